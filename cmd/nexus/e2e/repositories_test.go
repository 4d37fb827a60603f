package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
)

// grown is a commit that adds so many drivers to the parent's tree: more than fit into one transaction.
func grown(parent string, drivers int) map[string]any {
	operations := make([]any, drivers)
	for i := range operations {
		operations[i] = map[string]any{"op": "create", "nodeType": "DRIVER", "title": fmt.Sprint("driver ", i)}
	}
	return map[string]any{"parentRevId": parent, "message": "grown", "source": "weekly_review", "operations": operations}
}

// announced are the revisions of the user that are announced and not committed, each with the number of its rows so
// far.
func (s *system) announced(ctx context.Context, db *dynamodb.Client, table, user string) map[string]int {
	rows := func(partition, prefix string) []map[string]types.AttributeValue {
		out, err := db.Query(ctx, &dynamodb.QueryInput{
			TableName: &table, ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("SK"),
			KeyConditionExpression: aws.String("PK = :p AND begins_with(SK, :s)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":p": &types.AttributeValueMemberS{Value: partition}, ":s": &types.AttributeValueMemberS{Value: prefix},
			},
		})
		if err != nil {
			return nil // the engine is on its way down
		}
		return out.Items
	}
	out := map[string]int{}
	for _, draft := range rows("U#"+user, "DRAFT#VALUES#") {
		if sk, ok := draft["SK"].(*types.AttributeValueMemberS); ok {
			revision := strings.TrimPrefix(sk.Value, "DRAFT#VALUES#")
			out[revision] = len(rows("U#"+user+"#VALUES#"+revision, "NODE#"))
		}
	}
	return out
}

// snapshots are the revisions of which there are rows.
func (s *system) snapshots(user string) map[string]int {
	out := map[string]int{}
	for _, r := range s.scan() {
		if revision, ok := strings.CutPrefix(r.text("PK"), "U#"+user+"#VALUES#"); ok {
			out[revision]++
		}
	}
	return out
}

// verified runs a verification and returns what is said of abandoned snapshots, and how many differences remain.
func (s *system) verified(repair bool) (snapshots int, remaining int64) {
	s.t.Helper()
	got, _, err := s.anonymous().insist(s.t.Context(), request{
		method: http.MethodPost, path: "/dev/verify", body: map[string]any{"repair": repair},
	})
	require.NoError(s.t, err)
	for line := range strings.Lines(string(got.body)) {
		var l struct {
			Difference *struct{ Kind string }
			Summary    *struct{ Remaining int64 }
		}
		require.NoError(s.t, json.Unmarshal([]byte(line), &l), line)
		if l.Difference != nil && l.Difference.Kind == "snapshot" {
			snapshots++
		}
		if l.Summary != nil {
			remaining = l.Summary.Remaining
		}
	}
	return snapshots, remaining
}

func TestDev_hasACommitWholeOrNotAtAllWhenItIsKilled(t *testing.T) {
	t.Parallel()
	const user, kills, drivers = "grower", 4, 500
	s := onDirectory(t)
	c := s.client(user)
	parent := ""
	for round := range kills {
		body, key := grown(parent, drivers), fmt.Sprint("round-", round)
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			// who is killed does not answer
			_, _ = c.call(t.Context(), request{method: http.MethodPost, path: "/v1/values/revisions", body: body, key: key})
		}()
		db, table := s.straight()
		before, least := s.announced(t.Context(), db, table, user), round%2 // rows: none need be there, or one
		require.Eventually(t, func() bool {
			select {
			case <-answered:
				return true // it was too quick to be met
			default:
			}
			for revision, rows := range s.announced(t.Context(), db, table, user) {
				if _, old := before[revision]; !old && rows >= least {
					return true
				}
			}
			return false
		}, persistence, time.Millisecond)
		s.kill()
		<-answered
		s.start()

		got, _, err := c.insist(t.Context(), request{method: http.MethodGet, path: "/v1/values"})
		require.NoError(t, err)
		require.Contains(t, []int{http.StatusOK, http.StatusNotFound}, got.status)
		nodes, _ := got.object()["nodes"].([]any)
		require.Contains(t, []int{round * drivers, (round + 1) * drivers}, len(nodes), "whole or not at all")
		again, _, err := c.insist(t.Context(), request{
			method: http.MethodPost, path: "/v1/values/revisions", body: body, key: key,
		})
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, again.status, "%s", again)
		parent, _ = again.object()["revId"].(string)
	}
	tree := c.get("/v1/values")
	require.Equal(t, parent, tree["revId"])
	require.Len(t, tree["nodes"], kills*drivers)
	history, _ := c.get("/v1/values/revisions")["items"].([]any)
	require.Len(t, history, kills)

	abandoned := len(s.snapshots(user)) - kills
	s.advance(16 * time.Minute)
	s.waitUntilIdle()
	named, _ := s.verified(false)
	require.GreaterOrEqual(t, named, abandoned, "a draft without a row is one too")
	repaired, remaining := s.verified(true)
	require.Equal(t, named, repaired)
	require.Zero(t, remaining)
	require.Len(t, s.snapshots(user), kills, "history names what is left")
	require.Equal(t, tree["nodes"], c.get("/v1/values")["nodes"])
	left, _ := s.verified(false)
	require.Zero(t, left)
	t.Logf("%d abandoned snapshots, %d of them with rows", named, abandoned)
}
