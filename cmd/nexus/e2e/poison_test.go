package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// processedBound is how soon the records behind a poisonous one have to be processed.
const processedBound = time.Second

func TestRecordsThatNobodyCanReadAreParkedAndHoldUpNobody(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	db, table := s.straight()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	number := func(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
	c := s.client("poisoned")
	poisons := []struct {
		name, reason string
		item         map[string]types.AttributeValue
	}{
		{"an unknown entityType", "unknown entityType", map[string]types.AttributeValue{
			"PK": text("USER#poisoned"), "entityType": text("WIDGET"), "version": number("1"),
		}},
		{"a version that is text", "version is not a number", map[string]types.AttributeValue{
			"PK": text("USER#poisoned"), "entityType": text("TASK"), "version": text("abc"),
		}},
		{"a version beyond all numbers", "want a whole number", map[string]types.AttributeValue{
			"PK": text("USER#poisoned"), "entityType": text("TASK"), "version": number("1e60"),
		}},
		{"a malformed partition key and a binary attribute", "partition key", map[string]types.AttributeValue{
			"PK": text("USER#a#b"), "entityType": text("TASK"), "version": number("1"),
			"title": &types.AttributeValueMemberB{Value: []byte{0, 0xff, 0xfe}},
		}},
	}
	for i, poison := range poisons {
		id := "task_" + uuid.NewString()
		poison.item["SK"] = text("TASK#" + id)
		_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: poison.item})
		require.NoError(t, err, poison.name)

		c.create("notes", map[string]any{"title": "behind " + poison.name})
		acknowledged := time.Now()
		// Longer than allowed, to be able to say by how much.
		seen := await(t.Context(), 10*processedBound, time.Millisecond, func() bool {
			n, err := wholeNumber(c.get("/v1/me/stats"), "totalNotes")
			return err == nil && n == int64(i+1)
		})
		took := time.Since(acknowledged)
		require.True(t, seen, "%s: the note behind it is not counted", poison.name)
		require.Less(t, took, processedBound, "%s: until the note behind it was counted", poison.name)
		t.Logf("%s: the note behind it was counted after %s", poison.name, took.Round(time.Millisecond))

		s.settle()
		by := map[string]string{}
		for _, p := range s.parked() {
			if strings.Contains(string(p.Body.Record), id) {
				by[p.Body.Consumer] = p.Body.Reason
			}
		}
		for _, consumer := range []string{"stats", "links", "reminders", "archive"} {
			require.Contains(t, by[consumer], poison.reason, "%s: reason of %s; parked by %v", poison.name, consumer, by)
		}
	}
	tasks, err := wholeNumber(c.get("/v1/me/stats"), "totalTasks")
	require.NoError(t, err)
	require.Zero(t, tasks, "what is parked is not counted")
	require.Len(t, s.parked(), 4*len(poisons), "everything parked")
}
