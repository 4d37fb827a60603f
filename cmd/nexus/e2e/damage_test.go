package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
)

// A recount that finds nothing proves nothing unless it finds what is there.
func TestVerify_findsDamageOfEveryKind(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	c := s.client("damaged")
	due := s.now().Add(-time.Hour).Format(time.RFC3339)
	task := c.create("tasks", map[string]any{"title": "overdue", "dueUtc": due, "dueTzid": "UTC"})["taskId"].(string)
	link := []any{map[string]any{"targetType": "TASK", "targetId": task}}
	note := c.create("notes", map[string]any{"title": "note", "links": link})
	c.create("tasks", map[string]any{"title": "over", "status": "ARCHIVED"})
	soon := s.now().Add(time.Hour).Format(time.RFC3339)
	c.create("reminders", map[string]any{"title": "soon", "triggerUtc": soon, "tzid": "UTC"})
	lost, bent := damagedSeries(c, s.now()), damagedSeries(c, s.now())
	s.waitUntilIdle()
	rows, differences := s.recount()
	require.Empty(t, differences)

	db, table := s.straight()
	remove := func(prefix string) {
		for _, r := range rows {
			if strings.HasPrefix(r.text("SK"), prefix) {
				_, err := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: keyOf(r)})
				require.NoError(t, err)
				return
			}
		}
		require.Fail(t, "no row "+prefix)
	}
	remove("LINK#")
	remove("LEDGER#stats#" + task)
	remove("COLD#")
	remove("MASTER#" + lost)
	_, err := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{ // unknown to exceptions, without a new version
		TableName: &table, UpdateExpression: aws.String("SET rrule = :r"),
		Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "USER#damaged"},
			"SK": &types.AttributeValueMemberS{Value: "MASTER#" + bent},
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":r": &types.AttributeValueMemberS{Value: "FREQ=DAILY;INTERVAL=2"},
		},
	})
	require.NoError(t, err)
	for _, r := range rows {
		if r.kind() == "USER_META" {
			_, err := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: &table, Key: keyOf(r), UpdateExpression: aws.String("SET stats.totalNotes = :n"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: "7"}},
			})
			require.NoError(t, err)
		}
	}
	told := newAcknowledged()
	told.created("damaged", "NOTE", 0, note)
	told.mu.Lock()
	told.entities["damaged/"+note["noteId"].(string)].writes++ // a write that was lost
	told.mu.Unlock()

	rows, differences = s.recount()
	found := strings.Join(append(differences, told.compare(rows)...), "\n")
	for _, part := range []string{
		"edge ", "overdueTasks of damaged is 0, recounted 1", "cold copy false", "totalNotes of damaged is 7, recounted 1",
		"2 writes acknowledged, version 1 shown", "never acknowledged",
		"exception without a series: ", "exception for a date that is none: ", "exception that was never shown:  ",
	} {
		require.Contains(t, found, part)
	}
}

// damagedSeries makes a daily series whose second occurrence differs.
func damagedSeries(c client, now time.Time) (masterID string) {
	start := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 2).Add(9 * time.Hour)
	id := c.create("series", map[string]any{
		"title": "series", "startUtc": start.Format(time.RFC3339), "startTzid": "UTC", "rrule": "FREQ=DAILY",
	})["masterId"].(string)
	path := "/v1/series/" + id + "/instances/" + start.AddDate(0, 0, 1).Format("20060102")
	c.do(http.StatusOK, request{
		method: http.MethodPut, path: path, body: map[string]any{"title": "other"}, match: matching(1),
	})
	return id
}

func keyOf(r row) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: r.text("PK")}, "SK": &types.AttributeValueMemberS{Value: r.text("SK")},
	}
}
