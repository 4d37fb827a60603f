package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/deploy/env"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

// What the payloads of events/ are about.
const (
	user         = "7d9f3f6e-2a4b-4c8e-9a51-0c6f1e2d3b4a"
	taskID       = "task_4c2d7b90-19aa-4f0e-a8f6-6b1de2b0c702"
	noteID       = "note_b8a4c0de-6d0b-4c55-9f0b-7b0a6a3d2e11"
	createdID    = "task_9e8d7c6b-5a4f-4e3d-8c2b-1a0f9e8d7c6b" // by command-create-task.json
	fixedID      = "rem_e1f7a3c4-52b8-4d0f-8f3b-90c1d2e3f405"
	floatingID   = "rem_0d9c8b7a-6f5e-4d3c-8b2a-1f0e9d8c7b6a"
	seriesID     = "mst_a3d1c2b4-7e5f-4a60-9b1c-2d3e4f506172"
	dismissedID  = "rem_c3b2a190-8f7e-4d6c-9b5a-40312f1e0d9c"
	archive      = "nexus-archive"
	parking      = "nexus-parking"
	snapshots    = "nexus-snapshots"
	busName      = "nexus-events"
	group        = "nexus-reminders"
	targetARN    = "arn:aws:lambda:eu-central-1:123456789012:function:nexus-notify"
	roleARN      = "arn:aws:iam::123456789012:role/nexus-scheduler"
	deadLetter   = "arn:aws:sqs:eu-central-1:123456789012:nexus-undelivered"
	walksURL     = "https://sqs.eu-central-1.amazonaws.com/123456789012/nexus-walks.fifo"
	hintsHost    = "x7.appsync-api.eu-central-1.amazonaws.com"
	feedOrigin   = "https://nexus.example.net"
	realtimeHost = "x7.appsync-realtime-api.eu-central-1.amazonaws.com"
	spice        = "5f0e2c1b8a7d69483726150493a2b1c0d9e8f70615243342516079887a6b5c4d" // the deployment's pepper
	instantForm  = "2006-01-02T15:04:05Z"
	scheduleForm = "at(2006-01-02T15:04:05)"
)

// present is the instant that the payloads call now.
var present = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// fixture is one test's table and services.
type fixture struct {
	*testing.T
	registry *entity.Registry
	store    *dynamo.Store
	services *services
	settings map[string]string
	// late is by how much the payloads' instants are moved, so that their present is the real one.
	late time.Duration
}

func setup(t *testing.T) *fixture {
	t.Helper()
	endpoint, name := enginetest.Table(t)
	services, address := newServices(t)
	t.Cleanup(func() { walk(t, enginetest.Client(endpoint), name, services) })
	return &fixture{
		T: t, registry: product.Registry(), services: services,
		store: dynamo.New(enginetest.Client(endpoint), dynamo.WithTable(name)),
		settings: map[string]string{
			"AWS_REGION": "eu-central-1", "AWS_SECRET_ACCESS_KEY": "local", "AWS_SESSION_TOKEN": "local",
			"AWS_ENDPOINT_URL": address, "AWS_ENDPOINT_URL_DYNAMODB": guardedTable(t, endpoint),
			env.TableName: name, env.ArchiveBucket: archive, env.ParkingBucket: parking,
			env.SnapshotBucket: snapshots, env.BusName: busName,
			env.ScheduleGroup: group, env.ScheduleTargetARN: targetARN, env.ScheduleRoleARN: roleARN,
			env.ScheduleDeadLetterARN: deadLetter, env.HintsHost: hintsHost, env.HintsRealtimeHost: realtimeHost,
			env.SyncForm: "0", env.SubjectForm: "1", env.Pepper: spice,
			env.Announce:     "TaskArchived,ItemExpired,ItemRestored",
			env.Limits:       limit.Format(limit.Default()),
			env.WalkQueueURL: walksURL,
			env.Scopes:       "nexus/user", env.FeedOrigin: feedOrigin, env.EdgeSecrets: env.EdgeNone,
			env.Issuer: "https://id.nexus.example", env.Audience: "web",
			env.PushKey: pushKey().Public(), env.PushKeyParameter: env.PushSecretParameter, env.PushHosts: env.PushHostsAny,
			env.HookKeyParameter: env.HookSecretParameter,
			env.DeliverARN:       strings.Replace(targetARN, "notify", "deliver", 1) + ":live",
		},
		late: time.Now().Truncate(time.Second).Sub(present),
	}
}

// start runs a function with what the deployment sets for it, what Lambda sets, and the addresses of this world.
func (w *fixture) start(f env.Function) *function {
	w.Helper()
	return start(w.T, f, w.environment(f))
}

func (w *fixture) environment(f env.Function) map[string]string {
	out := map[string]string{}
	names := []string{
		"AWS_REGION", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB",
		pushVariable,
	}
	for _, name := range append(names, f.Variables()...) {
		out[name] = w.settings[name]
	}
	out["AWS_ACCESS_KEY_ID"] = string(f) // so that each request names its function
	return out
}

// payload reads a file of events/ as it stands.
func (w *fixture) payload(name string) []byte {
	w.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "events", name+".json"))
	require.NoError(w, err)
	return text
}

var (
	instants = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	// dates are those that name the occurrences of the payloads' one series, which start at ten.
	dates   = regexp.MustCompile(`(INSTANCE#mst_[0-9a-f-]+#|INSTANCE#|inst_)(\d{8})`)
	seconds = regexp.MustCompile(`("ApproximateCreationDateTime":\s*|"ttl":\s*\{\s*"N":\s*")(\d+)`)
)

// now reads a payload and moves every instant in it, so that its present is the real one.
func (w *fixture) now(name string) []byte {
	w.Helper()
	text := instants.ReplaceAllFunc(w.payload(name), func(found []byte) []byte {
		at, err := time.Parse(instantForm, string(found))
		require.NoError(w, err)
		return []byte(w.moved(at).Format(instantForm))
	})
	text = dates.ReplaceAllFunc(text, func(found []byte) []byte {
		parts := dates.FindSubmatch(found)
		day, err := time.Parse("20060102", string(parts[2]))
		require.NoError(w, err)
		return w.moved(day.Add(10*time.Hour)).AppendFormat(parts[1], "20060102")
	})
	return seconds.ReplaceAllFunc(text, func(found []byte) []byte {
		parts := seconds.FindSubmatch(found)
		at, err := strconv.ParseInt(string(parts[2]), 10, 64)
		require.NoError(w, err)
		return strconv.AppendInt(parts[1], at+int64(w.late/time.Second), 10)
	})
}

func (w *fixture) moved(at time.Time) time.Time { return at.Add(w.late) }

// happen brings the table to where it stands after the records of a stream payload, and returns the payload.
func (w *fixture) happen(name string) []byte {
	w.Helper()
	text := w.now(name)
	w.apply(text)
	return text
}

func (w *fixture) apply(text []byte) {
	w.Helper()
	batch, err := change.Decode(text, w.registry)
	require.NoError(w, err)
	for _, rec := range batch {
		switch {
		case rec.Err != nil:
		case rec.Change.New != nil:
			require.NoError(w, w.store.Put(w.Context(), table.Put{Item: rec.Change.New}))
		default:
			require.NoError(w, w.store.Delete(w.Context(), table.Delete{Key: rec.Key}))
		}
	}
}

// row returns a row of the table, nil if it is not there.
func (w *fixture) row(key item.Key) item.Item {
	w.Helper()
	it, err := table.Find(w.Context(), w.store, key)
	require.NoError(w, err)
	return it
}

func (w *fixture) item(typeName, id string) item.Item {
	w.Helper()
	return w.row(entity.ItemKey(user, entity.Ref{Type: typeName, ID: id}))
}

// stats returns the user's totals by name.
func (w *fixture) stats() item.Map {
	w.Helper()
	return item.Map(w.row(entity.MetaKey(user)).Map(product.AttrStats))
}

func (w *fixture) requireTotals(tasks, notes, reminders int64) {
	w.Helper()
	stats := item.Item(w.stats())
	require.Equal(w, [3]int64{tasks, notes, reminders}, [3]int64{
		stats.Int(product.StatTotalTasks), stats.Int(product.StatTotalNotes), stats.Int(product.StatTotalReminders),
	})
}

// object decodes a JSON object.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &out), "%s", text)
	return out
}
