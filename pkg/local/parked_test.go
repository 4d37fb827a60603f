package local_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob/dir"
	"nexus/pkg/consume"
	"nexus/pkg/local"
)

// lines posts a body and returns the answer's lines.
func (s *system) lines(path string, body any) (out []object) {
	s.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(s.t, err)
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL()+path, bytes.NewReader(text))
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	require.Equal(s.t, http.StatusOK, response.StatusCode)
	for lines := json.NewDecoder(response.Body); ; {
		var one object
		err := lines.Decode(&one)
		if err == io.EOF {
			return out
		}
		require.NoError(s.t, err)
		out = append(out, one)
	}
}

// parkSome puts parked objects into a data directory: of the records of a system's stream for stats, some of which can
// be delivered; records that cannot be read, for links; and a batch that a reader gave up.
func parkSome(t *testing.T, data string, records []json.RawMessage) {
	t.Helper()
	blobs, err := dir.New(data + "/blobs")
	require.NoError(t, err)
	defer func() { require.NoError(t, blobs.Close()) }()
	put := func(name, consumer, reason string, at int, record []byte) {
		require.NoError(t, blobs.Put(t.Context(), name, consume.Parked{
			Consumer: consumer, Reason: reason, ParkedAt: time.Unix(1_700_000_000+int64(at), 0).UTC(), Record: record,
		}.Body()))
	}
	for i, record := range records {
		name := fmt.Sprintf("parked/stats/u1/task_%d/1-%d.json", i, i)
		put(name, "stats", fmt.Sprintf("TASK#task_%d at version %d: a mistake of \"%d\"", i, i, i), i, record)
	}
	for i := range 3 {
		name := fmt.Sprintf("parked/links/.unreadable/%d.json", i)
		put(name, "links", "undecodable record", i, []byte(`{"eventName":"MODIFY","dynamodb":7}`))
	}
	given := "aws/lambda/effects/s/" + time.Now().UTC().Format("2006-01-02T15.04.05") + "-x"
	require.NoError(t, blobs.Put(t.Context(), given, []byte("{}")))
}

// withParked is a system with two users' records of which some are parked.
func withParked(t *testing.T) (s *system, ours int) {
	t.Helper()
	data := t.TempDir()
	first := startSystem(t, local.Options{DataDir: data})
	for i := range 5 {
		first.task(fmt.Sprint(i))
	}
	first.waitUntilIdle()
	_, text := first.text("/dev/records")
	first.stop()
	records, err := consume.Records([]byte(text))
	require.NoError(t, err)
	parkSome(t, data, records[:4])
	return startSystem(t, local.Options{DataDir: data}), 4
}

func TestGetParked_groupsAndFilters(t *testing.T) {
	t.Parallel()
	s, ours := withParked(t)
	groups := s.items("/dev/parked?groups=true")
	require.Len(t, groups, 3)
	require.Equal(t, "TASK#… at version …: a mistake of", groups[0]["reason"], "the rest differs from record to record")
	require.EqualValues(t, ours, groups[0]["count"])
	require.EqualValues(t, 1, groups[0]["users"])
	require.NotEqual(t, groups[0]["oldest"], groups[0]["newest"])
	kind := url.QueryEscape(groups[0]["reason"].(string))
	for query, want := range map[string]int{
		"": ours + 4, "consumer=stats": ours, "consumer=links": 3, "user=u1": ours, "user=ben": 0, "reason=undecodable": 3,
		"consumer=stats&user=u1": ours, "consumer=effects": 1, "reason=" + kind: ours,
		"object=parked/stats/u1/task_0/1-0.json": 1,
	} {
		n := 0
		for _, page := range s.pages("/dev/parked?limit=2&"+query, "after") {
			n += len(page)
		}
		require.Equal(t, want, n, query)
	}
	for query, field := range map[string]string{"user=%23": "user", "consumer=a/b": "consumer", "groups=1": "groups"} {
		status, problem := s.call("GET", "/dev/parked?"+query, nil)
		require.Equal(t, http.StatusUnprocessableEntity, status, query)
		require.Contains(t, problem["detail"], field)
	}
}

func TestPostRedrive_deliversWhatMatchesAndDeletesWhatIsDone(t *testing.T) {
	t.Parallel()
	s, ours := withParked(t)
	before := s.stats()["totalTasks"]
	filter := object{"consumer": "stats"}
	dry := s.lines("/dev/parked/redrive", object{"filter": filter, "dryRun": true})
	require.Len(t, dry, ours+1)
	require.EqualValues(t, ours, dry[ours]["summary"].(object)["done"])
	require.Equal(t, true, dry[ours]["summary"].(object)["dryRun"])
	require.EqualValues(t, ours+4, len(s.items("/dev/parked?limit=100")), "a dry run deletes nothing")

	done := s.lines("/dev/parked/redrive", object{"filter": filter})
	require.EqualValues(t, ours, done[ours]["summary"].(object)["done"])
	require.Empty(t, s.items("/dev/parked?consumer=stats"))
	require.Equal(t, before, s.stats()["totalTasks"], "it had been counted before")

	links := s.lines("/dev/parked/redrive", object{"filter": object{"consumer": "links"}})
	require.EqualValues(t, 3, links[3]["summary"].(object)["parked"])
	require.Len(t, s.items("/dev/parked?object=parked/links/.unreadable/0.json"), 1, "it stays parked")
	given := s.lines("/dev/parked/redrive", object{"filter": object{"consumer": "effects"}})
	require.EqualValues(t, 1, given[1]["summary"].(object)["unknown"], "there is no record in it")
}

func TestPostRedrive_triesWhatIsParkedOfWebhooks(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := startSystem(t, local.Options{DataDir: data, PrivateWebhooks: true})
	first.must("POST", "/v1/webhooks", object{"url": "http://127.0.0.1:1/", "types": []string{"task.*"}})
	first.task("0")
	first.waitUntilIdle()
	_, text := first.text("/dev/records")
	first.stop()
	records, err := consume.Records([]byte(text))
	require.NoError(t, err)
	blobs, err := dir.New(data + "/blobs")
	require.NoError(t, err)
	for i, record := range records {
		require.NoError(t, blobs.Put(t.Context(), fmt.Sprintf("parked/webhooks/u1/x/%d.json", i), consume.Parked{
			Consumer: "webhooks", Reason: "a mistake", ParkedAt: time.Unix(1_700_000_000, 0).UTC(), Record: record,
		}.Body()))
	}
	require.NoError(t, blobs.Close())
	s := startSystem(t, local.Options{DataDir: data, PrivateWebhooks: true})
	for _, isDry := range []bool{true, false} {
		told := s.lines("/dev/parked/redrive", object{"filter": object{"consumer": "webhooks"}, "dryRun": isDry})
		require.EqualValues(t, len(records), told[len(records)]["summary"].(object)["done"], "%v", told)
	}
	require.Empty(t, s.items("/dev/parked?consumer=webhooks"))
}

func TestPostDiscard_wantsTheCount(t *testing.T) {
	t.Parallel()
	s, ours := withParked(t)
	filter := object{"consumer": "stats"}
	status, problem := s.call("POST", "/dev/parked/discard", object{"filter": filter, "count": ours - 1})
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, problem["detail"], "nothing was discarded")
	require.Len(t, s.items("/dev/parked?consumer=stats"), ours)
	told := s.lines("/dev/parked/discard", object{"filter": filter, "count": ours})
	require.EqualValues(t, ours, told[ours]["summary"].(object)["discarded"])
	require.Empty(t, s.items("/dev/parked?consumer=stats"))
}

func TestGetDue_listsWhatWaitsForItsTime(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		s.reminder("later", s.now().Add(3*time.Hour))
		s.task("done", object{"status": "COMPLETED"})
		s.waitUntilIdle()
		due := s.items("/dev/due")
		require.Len(t, due, 2)
		require.Equal(t, "schedule", due[0]["kind"])
		require.Equal(t, "timer", due[1]["kind"])
		require.Equal(t, "u1", due[1]["user"])
		require.EqualValues(t, 1, s.must("GET", "/dev/due?limit=1", nil)["more"])
		s.advance("25h")
		kinds := []any{}
		for _, one := range s.items("/dev/due") {
			kinds = append(kinds, one["kind"])
		}
		require.Contains(t, kinds, "expiry", "the archived task leaves the table")
	})
}

func TestPostVerify_namesOnlyWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	s.task("t")
	s.waitUntilIdle()
	require.Len(t, s.lines("/dev/verify", object{"only": object{"kind": "link"}}), 1, "the summary")
	status, problem := s.call("POST", "/dev/verify", object{"repair": true, "only": object{"kind": "link"}})
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, problem["detail"], "only")
}
