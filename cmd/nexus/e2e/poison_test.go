package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/readers"
	"nexus/pkg/product"
)

// processedBound is how soon the records that follow a poisonous one have to be processed.
const processedBound = time.Second

func TestDev_parksUnreadableRecordsAndDelaysNoOthers(t *testing.T) {
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
	var consumers int
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
		require.True(t, seen, "%s: the note after it is not counted", poison.name)
		require.Less(t, took, processedBound, "%s: until the note after it was counted", poison.name)
		t.Logf("%s: the note after it was counted after %s", poison.name, took.Round(time.Millisecond))

		s.waitUntilIdle()
		by := map[string]string{}
		for _, p := range s.parked() {
			if strings.Contains(string(p.Body.Record), id) {
				by[p.Body.Consumer] = p.Body.Reason
			}
		}
		consumers = 0
		for _, reader := range readers.Table(product.Registry()) {
			for _, consumer := range reader.Consumers {
				require.Contains(t, by[consumer], poison.reason, "%s: reason of %s; parked by %v", poison.name, consumer, by)
			}
			consumers += len(reader.Consumers)
		}
	}
	tasks, err := wholeNumber(c.get("/v1/me/stats"), "totalTasks")
	require.NoError(t, err)
	require.Zero(t, tasks, "what is parked is not counted")
	require.Len(t, s.parked(), consumers*len(poisons), "everything parked")
}

func TestDev_parksASeriesThatCannotBeExpandedAndDelaysNoOthers(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	c := s.client("poisoned")
	start := s.now().Add(48 * time.Hour).UTC()
	id := c.create("series", map[string]any{
		"title": "series", "startUtc": start.Format(time.RFC3339), "startTzid": "UTC", "rrule": "FREQ=DAILY",
		"reminderMinutes": []int{10},
	})["masterId"].(string)
	s.waitUntilIdle()
	db, table := s.straight()
	_, err := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: &table, UpdateExpression: aws.String("SET rrule = :r, version = :v"),
		Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "USER#poisoned"},
			"SK": &types.AttributeValueMemberS{Value: "MASTER#" + id},
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":r": &types.AttributeValueMemberS{Value: "FREQ=NEVER"}, ":v": &types.AttributeValueMemberN{Value: "2"},
		},
	})
	require.NoError(t, err)
	c.create("notes", map[string]any{"title": "behind it"})
	c.create("reminders", map[string]any{"title": "behind it", "triggerUtc": start.Format(time.RFC3339), "tzid": "UTC"})
	s.waitUntilIdle()
	parked := s.parked()
	require.Len(t, parked, 1)
	require.Equal(t, "reminders", parked[0].Body.Consumer)
	require.Contains(t, parked[0].Body.Reason, "FREQ")
	stats := c.get("/v1/me/stats")
	for name, want := range map[string]string{"totalEvents": "1", "totalNotes": "1", "totalReminders": "1"} {
		require.Equal(t, want, text(stats[name]), name)
	}
	require.Contains(t, text(s.pending()), "rem_", "the reminder after it has its schedule")
	c.do(http.StatusNoContent, request{method: http.MethodDelete, path: "/v1/series/" + id, match: matching(2)})
	s.waitUntilIdle()
	require.Len(t, s.pending(), 1, "schedules after the series was deleted")
	require.Equal(t, "0", text(c.get("/v1/me/stats")["totalEvents"]))
}
