package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/local"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/webhook"
)

// regional stands in for the services that a deployment has beside its table, as far as verification uses them:
// schedules by name, and an empty bucket.
type regional struct {
	mu        sync.Mutex
	schedules map[string]map[string]any
}

func (s *regional) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, isOne := strings.CutPrefix(r.URL.Path, "/schedules/")
	switch {
	case r.URL.Query().Get("list-type") == "2":
		_, _ = io.WriteString(w, `<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>`)
		return
	case !isOne && r.URL.Path == "/schedules":
		list := []map[string]string{}
		for name := range s.schedules {
			list = append(list, map[string]string{"Name": name})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Schedules": list})
		return
	case r.Method == http.MethodPost, r.Method == http.MethodPut && s.schedules[name] != nil:
		in := map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&in)
		s.schedules[name] = in
	case s.schedules[name] == nil:
		w.Header().Set("X-Amzn-ErrorType", "ResourceNotFoundException")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"Message":"none"}`)
		return
	case r.Method == http.MethodDelete:
		delete(s.schedules, name)
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(s.schedules[name])
		return
	}
	_, _ = io.WriteString(w, `{}`)
}

const deliverARN = "arn:aws:lambda:us-east-1:123456789012:function:deliver:live"

// A message whose worker was not called, as after a crash, is named, and a repair has deliver called.
func TestVerifyCommand_readsTheOutboxOfADeployment(t *testing.T) {
	services := &regional{schedules: map[string]map[string]any{}}
	server := httptest.NewServer(services)
	defer server.Close()
	for _, name := range []string{"SCHEDULER", "EVENTBRIDGE"} {
		t.Setenv("AWS_ENDPOINT_URL_"+name, server.URL)
	}
	t.Setenv("DELIVER_ARN", deliverARN)
	endpoint, name := enginetest.Table(t)
	store := dynamo.New(enginetest.Client(endpoint), dynamo.WithTable(name))
	id := outbox.ID{
		Hook: "whk_3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11", At: time.Unix(1_700_000_000, 0).UTC(), Message: "msg_A",
	}
	row := outbox.MessageKey("ann", id).Item()
	row["state"], row["type"], row["body"] = item.String("pending"), item.String("task.created"), item.String("{}")
	require.NoError(t, store.Put(t.Context(), table.Put{Item: row}))
	args := []string{
		"verify", "--endpoint", endpoint, "--table", name, "--user", "ann", "--schedule-group", "g", "--bus", "b",
		"--schedule-target", notifyARN, "--schedule-role", "arn:aws:iam::123456789012:role/r", "--schedule-dead-letter",
		"arn:aws:sqs:us-east-1:123456789012:q",
	}
	code, results, messages := nexus(t, args...)
	require.Equal(t, exitFailed, code, results+messages)
	require.Contains(t, results, "pending without a row OUT#")
	code, results, messages = nexus(t, append(args, "--repair")...)
	require.Equal(t, exitDone, code, results+messages)
	require.Len(t, services.schedules, 1)
	for name, s := range services.schedules {
		require.Contains(t, name, webhook.SchedulePrefix)
		require.Equal(t, deliverARN, s["Target"].(map[string]any)["Arn"])
	}
}

const notifyARN = "arn:aws:lambda:us-east-1:123456789012:function:notify"

// It is not parallel, because it says in the environment where the services are.
func TestVerifyCommand_readsTheServicesThatAreNamed(t *testing.T) {
	services := &regional{schedules: map[string]map[string]any{}}
	server := httptest.NewServer(services)
	defer server.Close()
	for _, name := range []string{"S3", "SCHEDULER", "EVENTBRIDGE"} {
		t.Setenv("AWS_ENDPOINT_URL_"+name, server.URL)
	}
	base := runningSystem(t, local.DynamoDB)
	load(t, base, 1, 10)
	c := newClient(base)
	defer c.close()
	_, err := c.call(t.Context(), http.MethodPost, "/dev/settle", object{}, -1)
	require.NoError(t, err)
	info, err := c.call(t.Context(), http.MethodGet, "/dev/info", nil, -1)
	require.NoError(t, err)
	own, err := c.call(t.Context(), http.MethodGet, "/dev/schedules?state=PENDING", nil, -1)
	require.NoError(t, err)
	scheduled := own.Body["items"].([]any)
	require.NotEmpty(t, scheduled)

	args := []string{
		"verify", "--endpoint", info.Body.Str("endpoint"), "--grace", "1ms", "--schedule-group", "g", "--bus", "b",
		"--schedule-target", notifyARN + ":live",
		"--schedule-role", "arn:aws:iam::123456789012:role/r", "--schedule-dead-letter",
		"arn:aws:sqs:us-east-1:123456789012:q",
	}
	code, results, messages := nexus(t, args...)
	require.Equal(t, exitFailed, code, results+messages)
	require.Contains(t, results, "no schedule of")
	require.Contains(t, messages, "contents of cold copies")
	code, results, messages = nexus(t, append(args, "--repair")...)
	require.Equal(t, exitDone, code, results+messages)
	require.Len(t, services.schedules, len(scheduled), "the scheduler that was named has what the other one has")

	// An earlier release called the function without its alias.
	var former string
	for name, s := range services.schedules {
		former = name
		s["Target"].(map[string]any)["Arn"] = notifyARN
		break
	}
	code, results, messages = nexus(t, args...)
	require.Equal(t, exitFailed, code, results+messages)
	require.Contains(t, results, former)
	require.Contains(t, results, "with another target, role or queue")
	code, results, messages = nexus(t, append(args, "--repair")...)
	require.Equal(t, exitDone, code, results+messages)
	require.Equal(t, notifyARN+":live", services.schedules[former]["Target"].(map[string]any)["Arn"])

	services.schedules["reminder-x"] = map[string]any{
		"Target": map[string]string{"Arn": "a", "RoleArn": "r", "Input": "{}"},
	}
	code, results, messages = nexus(t, append(args, "--repair", "--json")...)
	require.Equal(t, exitDone, code, results+messages)
	require.Contains(t, results, `"reminder-x"`)
	code, results, messages = nexus(t, append(slices.Clone(args), "--bucket", "copies", "--user", "user1", "--deliver",
		deliverARN)...)
	require.Equal(t, exitDone, code, results+messages)
	require.Empty(t, messages)

	code, _, messages = nexus(t, args[:len(args)-2]...)
	require.Equal(t, exitUsage, code)
	require.Contains(t, messages, "schedule-dead-letter")
}
