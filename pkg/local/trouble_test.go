package local_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/local"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/product"
)

// onEngine starts a platform on an engine of its own, in a directory.
func onEngine(t *testing.T, options local.Options) (*system, string) {
	t.Helper()
	options.DataDir = t.TempDir()
	return startSystem(t, options), options.DataDir
}

// plant writes a row past everything, as only another tool can.
func (s *system) plant(key item.Key, attributes map[string]types.AttributeValue) {
	s.t.Helper()
	info := s.must("GET", "/dev/info", nil)
	client := enginetest.Client(info["endpoint"].(string))
	attributes[item.AttrPK] = &types.AttributeValueMemberS{Value: key.PK}
	attributes[item.AttrSK] = &types.AttributeValueMemberS{Value: key.SK}
	_, err := client.PutItem(s.t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String(info["table"].(string)), Item: attributes,
	})
	require.NoError(s.t, err)
}

func TestPlatform_parksAnUnreadableRecordAndDelaysNoOthers(t *testing.T) {
	t.Parallel()
	s, _ := onEngine(t, local.Options{})
	s.plant(entity.ItemKey(s.user, entity.Ref{Type: product.TypeTask, ID: "task_poison"}), map[string]types.AttributeValue{
		entity.AttrType:    &types.AttributeValueMemberS{Value: "UNKNOWN"},
		entity.AttrVersion: &types.AttributeValueMemberS{Value: "abc"},
	})
	s.task("behind it")
	s.waitUntilIdle()
	require.EqualValues(t, 1, s.stats()["totalTasks"])
	consumers := map[string]bool{}
	for _, parked := range s.items("/dev/parked") {
		body := parked["body"].(object)
		consumers[body["consumer"].(string)] = true
		require.NotEmpty(t, body["reason"])
		require.Contains(t, body["record"], "dynamodb")
	}
	every := map[string]bool{}
	for _, reader := range readers.Table(product.Registry()) {
		for _, name := range reader.Consumers {
			every[name] = true
		}
	}
	require.Equal(t, every, consumers)
	page := s.must("GET", "/dev/parked?limit=3", nil)
	require.Len(t, page["items"], 3)
	require.Len(t, s.items("/dev/parked?limit=9&after="+page["next"].(string)), len(every)-3)
}

func TestUnsettledError_saysWhatIsUnfinished(t *testing.T) {
	t.Parallel()
	s, _ := onEngine(t, local.Options{Settling: 2 * time.Second})
	at := s.now().Add(2 * time.Hour)
	reminder := s.reminder("stuck", at)
	s.waitUntilIdle()
	// A delivery that was begun and whose row cannot be read any more: the call can neither go on nor be dropped.
	s.plant(entity.DeliveryKey(s.user, reminder["reminderId"].(string), 0, at, at), map[string]types.AttributeValue{
		"state": &types.AttributeValueMemberS{Value: "pending"},
	})
	status, problem := s.call("POST", "/dev/clock", object{"advance": "2h"})
	require.Equal(t, http.StatusGatewayTimeout, status)
	require.Contains(t, problem["detail"], "schedule")
	status, _ = s.call("POST", "/dev/settle", object{})
	require.Equal(t, http.StatusGatewayTimeout, status)
	require.EqualValues(t, 1, s.must("GET", "/dev/lag", nil)["schedulesDue"])
}

// killEngine kills the engine of the platform with that data directory.
func killEngine(t *testing.T, dir string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "engine", "engine.lock"))
	require.NoError(t, err)
	var held struct {
		Engine struct {
			PID int `json:"pid"`
		} `json:"engine"`
	}
	require.NoError(t, json.Unmarshal(content, &held))
	engine, err := os.FindProcess(held.Engine.PID)
	require.NoError(t, err)
	require.NoError(t, engine.Kill())
}

func TestPlatform_endsWithAReportWhenItsEngineDies(t *testing.T) {
	t.Parallel()
	s, dir := onEngine(t, local.Options{})
	s.task("acknowledged")
	killEngine(t, dir)
	select {
	case <-s.Done():
	case <-time.After(10 * time.Second):
		require.Fail(t, "the platform goes on without its engine")
	}
	require.ErrorContains(t, s.Err(), "engine")
	require.Error(t, s.WaitUntilIdle(t.Context()))
	_ = s.Stop(context.Background()) // says that the engine did not end as it was asked to

	again := startSystem(t, local.Options{DataDir: dir})
	again.waitUntilIdle()
	require.EqualValues(t, 1, again.stats()["totalTasks"], "what was acknowledged is there")
}

func TestPostRedeliver_leavesEverythingAsItIs(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		note := s.must("POST", "/v1/notes", object{"title": "n", "body": "b"})
		task := s.task("t", object{"links": []object{{"targetType": "NOTE", "targetId": note["noteId"]}}})
		s.must("PATCH", "/v1/tasks/"+task["taskId"].(string), object{"status": "COMPLETED"}, "If-Match", version(task))
		s.reminder("r", s.now().Add(time.Hour))
		doomed := s.task("doomed")
		s.must("DELETE", "/v1/tasks/"+doomed["taskId"].(string), nil, "If-Match", version(doomed))
		s.advance("26h")
		state := func() []any {
			stats := s.stats()
			delete(stats, "asOf")
			distinct := map[any]bool{}
			for _, e := range s.items("/dev/events") {
				distinct[e["detail"].(object)["deliveryId"]] = true
			}
			return []any{
				stats, distinct, s.items("/dev/schedules"), s.items("/v1/archive"),
				s.items("/v1/notes/" + note["noteId"].(string) + "/backlinks"), s.must("GET", "/dev/blobs", nil),
			}
		}
		before := state()
		delivered := s.must("POST", "/dev/redeliver", object{"from": "start", "times": 2})["delivered"].(object)
		require.Positive(t, delivered["projections"])
		require.Positive(t, delivered["effects"])
		s.waitUntilIdle()
		require.Equal(t, before, state())

		only := s.must("POST", "/dev/redeliver", object{"from": "start", "consumer": "links"})["delivered"].(object)
		require.Contains(t, only, "projections")
		require.NotContains(t, only, "effects")
		for _, bad := range []object{
			{"from": "middle"}, {"from": "start", "times": 11}, {"from": "start", "consumer": "nobody"},
		} {
			status, _ := s.call("POST", "/dev/redeliver", bad)
			require.Equal(t, http.StatusUnprocessableEntity, status, "%v", bad)
		}
	})
}
