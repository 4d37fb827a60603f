package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// runningSystem is an ephemeral platform on a free port.
func runningSystem(t *testing.T, store local.Store) string {
	t.Helper()
	p, err := local.Start(t.Context(), local.Options{
		Store: store, Ephemeral: store == local.DynamoDB, Addr: "127.0.0.1:0", ShowEndpoint: store != local.Memory,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(context.WithoutCancel(t.Context()))) })
	return p.URL()
}

// load has some users work side by side.
func load(t *testing.T, base string, users, items int) {
	t.Helper()
	var all sync.WaitGroup
	for u := range users {
		all.Go(func() {
			c := newClient(base)
			defer c.close()
			c.user = fmt.Sprint("user", u)
			do := func(method, path, body string, version int64) object {
				var content any
				if body != "" {
					content = json.RawMessage(body)
				}
				got, err := c.call(t.Context(), method, path, content, version)
				if err != nil || got.Status >= http.StatusBadRequest {
					t.Errorf("%s %s: %v %v", method, path, got, err)
				}
				return got.Body
			}
			do(http.MethodPatch, "/v1/me", `{"defaultTzid":"Europe/Berlin"}`, 0)
			soon := time.Now().Add(time.Duration(30+u) * time.Hour).UTC().Truncate(time.Minute)
			note := do(http.MethodPost, "/v1/notes", `{"title":"n","body":"b"}`, -1).Str("noteId")
			for i := range items {
				at := soon.Add(time.Duration(i) * time.Hour).Format(time.RFC3339)
				switch i % 5 {
				case 0:
					e := do(http.MethodPost, "/v1/events", fmt.Sprintf(`{"title":"e","startUtc":%q,"startTzid":"UTC",`+
						`"reminderMinutes":[0,30],"links":[{"targetType":"NOTE","targetId":%q}]}`, at, note), -1)
					do(http.MethodPatch, "/v1/events/"+e.Str("eventId"), `{"title":"other"}`, 1)
				case 1:
					e := do(http.MethodPost, "/v1/tasks",
						fmt.Sprintf(`{"title":"t","dueUtc":%q,"dueTzid":"UTC","reminderMinutes":[10]}`, at), -1)
					do(http.MethodPatch, "/v1/tasks/"+e.Str("taskId"), `{"status":"COMPLETED"}`, 1)
				case 2:
					e := do(http.MethodPost, "/v1/reminders",
						fmt.Sprintf(`{"title":"r","triggerUtc":%q,"tzid":"UTC","rrule":"FREQ=DAILY"}`, at), -1)
					do(http.MethodPost, "/v1/reminders/"+e.Str("reminderId")+"/dismiss", `{"series":true}`, -1)
				case 3:
					do(http.MethodPost, "/v1/series", fmt.Sprintf(
						`{"title":"s","startUtc":%q,"startTzid":"Europe/Berlin","rrule":"FREQ=DAILY;COUNT=5","reminderMinutes":[15]}`,
						at), -1)
				case 4:
					e := do(http.MethodPost, "/v1/notes",
						fmt.Sprintf(`{"title":"gone","body":"b","links":[{"targetType":"NOTE","targetId":%q}]}`, note), -1)
					do(http.MethodDelete, "/v1/notes/"+e.Str("noteId"), "", 1)
				}
			}
		})
	}
	all.Wait()
}

func TestRecordCommand_recordsASystemUnderLoadForReplay(t *testing.T) {
	t.Parallel()
	for _, store := range []local.Store{local.Memory, local.DynamoDB} {
		t.Run(string(store), func(t *testing.T) {
			t.Parallel()
			base := runningSystem(t, store)
			fixture := filepath.Join(t.TempDir(), "stream.ndjson")
			loaded := make(chan struct{})
			go func() {
				defer close(loaded)
				load(t, base, 3, 20)
			}()
			code, _, messages := nexus(t, "record", "--dev", base, "--out", fixture) // while they work
			require.Equal(t, exitDone, code, messages)
			<-loaded
			now := ""
			for _, path := range []string{"/dev/settle", "/dev/clock", "/dev/settle"} {
				body := map[string]string{}
				if path == "/dev/clock" {
					body["advance"] = "200h"
				}
				c := newClient(base)
				got, err := c.call(t.Context(), http.MethodPost, path, body, -1)
				c.close()
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, got.Status, "%v", got.Body)
				now = got.Body.Str("now")
			}
			code, _, messages = nexus(t, "record", "--dev", base, "--out", fixture)
			require.Equal(t, exitDone, code, messages)
			body, err := os.ReadFile(fixture)
			require.NoError(t, err)
			require.NotEmpty(t, body)
			if store == local.DynamoDB {
				requireStreamReadDirectly(t, base)
			}

			// A completion that comes again brings a timer back until it is swept; that is for the second round.
			there, here := replayedJSON(t, "--dev", base, "--consumer", "stats,links", fixture),
				replayedJSON(t, "--until", now, fixture)
			// When an event was published is when the call was made, which is up to a poll later there.
			there.State.Events, here.State.Events = nil, nil
			require.Equal(t, there.State.String(), here.State.String())
			require.NotEmpty(t, here.State.Deliveries)
			require.NotEmpty(t, here.State.Cold)
			there = replayedJSON(t, "--dev", base, fixture)
			for i, r := range here.Consumers {
				require.Equal(t, r, there.Consumers[i])
				require.Equal(t, r.Records, r.Done)
			}
			require.Len(t, replayedJSON(t, "--consumer", "links,stats", fixture).Consumers, 2)
		})
	}
}

// requireStreamReadDirectly records from the engine's stream itself, and has the records decoded.
func requireStreamReadDirectly(t *testing.T, base string) {
	t.Helper()
	c := newClient(base)
	defer c.close()
	got, err := c.call(t.Context(), http.MethodGet, "/dev/info", nil, -1)
	require.NoError(t, err)
	code, results, messages := nexus(t, "record", "--stream-arn", got.Body.Str("streamArn"), "--endpoint",
		got.Body.Str("endpoint"))
	require.Equal(t, exitDone, code, messages)
	fixture := filepath.Join(t.TempDir(), "stream.ndjson")
	require.NoError(t, os.WriteFile(fixture, []byte(results), 0o600))
	for _, r := range replayedJSON(t, "--consumer", "stats", fixture).Consumers {
		require.NotZero(t, r.Done)
	}
}

func replayedJSON(t *testing.T, args ...string) (done local.Replayed) {
	t.Helper()
	code, results, messages := nexus(t, append([]string{"replay", "--json"}, args...)...)
	require.Equal(t, exitDone, code, messages)
	require.NoError(t, json.Unmarshal([]byte(results), &done))
	return done
}

func TestReplayCommand_putsMessagesToWebhooksAndSendsNone(t *testing.T) {
	t.Parallel()
	var told atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { told.Add(1) }))
	t.Cleanup(receiver.Close)
	p, err := local.Start(t.Context(), local.Options{Store: local.Memory, Addr: "127.0.0.1:0", PrivateWebhooks: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(context.WithoutCancel(t.Context()))) })
	c := newClient(p.URL())
	t.Cleanup(c.close)
	c.user = "ann"
	post := func(path string, body object) {
		t.Helper()
		got, err := c.call(t.Context(), http.MethodPost, path, body, -1)
		require.NoError(t, err)
		require.Less(t, got.Status, http.StatusBadRequest, "%v", got.Body)
	}
	post("/v1/webhooks", object{"url": receiver.URL, "types": []string{"task.*"}})
	load(t, p.URL(), 1, 5) // of another user
	post("/v1/tasks", object{"title": "Water the plants"})
	post("/dev/settle", object{})
	require.EqualValues(t, 1, told.Load())

	fixture := filepath.Join(t.TempDir(), "stream.ndjson")
	code, _, messages := nexus(t, "record", "--dev", p.URL(), "--out", fixture)
	require.Equal(t, exitDone, code, messages)
	there := replayedJSON(t, "--dev", p.URL(), fixture)
	here := replayedJSON(t, "--until", time.Now().Add(time.Hour).UTC().Format(time.RFC3339), fixture)
	require.Equal(t, there.State.Messages, here.State.Messages)
	require.Len(t, here.State.Messages, 1)
	require.Contains(t, here.State.Messages[0], "task.created")
	require.Equal(t, there.Consumers, here.Consumers)
	require.EqualValues(t, 1, told.Load(), "a replay sends nothing")
	alone := replayedJSON(t, "--consumer", "webhooks", fixture)
	require.Len(t, alone.Consumers, 1)
	require.Equal(t, here.State.Messages, alone.State.Messages)
}

func TestReplayCommand_namesWhatConsumersRefuseAndFails(t *testing.T) {
	t.Parallel()
	code, results, messages := nexus(t, "replay", "--consumer", "stats", "../../testdata/streams/undecodable.ndjson")
	require.Equal(t, exitFailed, code)
	require.Contains(t, results, "parked 14054000000000020640000101")
	require.Contains(t, results, "unknown entityType")
	require.Contains(t, messages, "records were not processed: 17")

	for _, args := range [][]string{
		{"replay"},
		{"replay", "--consumer", "mail", "../../testdata/streams/kinds.ndjson"},
		{"record"},
		{"record", "--stream-arn", "arn:aws:s3:::bucket"},
		{"record", "--stream-arn", "arn:aws:dynamodb:eu-west-1:1:table/T/stream/x", "--dev", "http://127.0.0.1:1"},
		{"record", "--dev", "http://127.0.0.1:1", "--follow"},
	} {
		code, results, _ := nexus(t, args...)
		require.Equal(t, exitUsage, code, "%v", args)
		require.Empty(t, results, "%v", args)
	}
	code, _, messages = nexus(t, "replay", "main.go")
	require.Equal(t, exitFailed, code)
	require.Contains(t, messages, "main.go")
}

func TestRecordCommand_removesAFileThatItCouldNotFinish(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "stream.ndjson")
	code, _, _ := nexus(t, "record", "--dev", "http://127.0.0.1:1", "--out", file)
	require.Equal(t, exitFailed, code)
	require.NoFileExists(t, file)
	code, _, _ = nexus(t, "record", "--stream-arn", "arn:aws:dynamodb:eu-west-1:1:table/T/stream/x", "--endpoint",
		"http://127.0.0.1:1", "--follow", "--out", file)
	require.Equal(t, exitFailed, code)
	require.FileExists(t, file)
}
