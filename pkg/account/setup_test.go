package account_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/bus"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/pepper"
	"nexus/pkg/register"
	"nexus/pkg/schedule"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// marker is a text that a user wrote: it is in everything that belongs to the user.
func marker(user string) string { return "words of " + user + "." }

// fixture is everything that has data of users, in memory and on a clock of its own.
type fixture struct {
	*testing.T
	now       time.Time
	store     *memory.Store
	archive   *blobmemory.Store
	parking   *blobmemory.Store
	snapshots *blobmemory.Store
	calls     *schedulememory.Scheduler
	bus       *busmemory.Bus
	pepper    pepper.Pepper
	log       *strings.Builder
	steps     int // calls since it was set to 0, each counted before and after
	dieAt     int // the step at which the process dies; 0 for never
	watching  func()
	ids       int
	// isLooking says that the test looks, which is no step.
	isLooking bool
}

var errDied = fmt.Errorf("the process died: %w", table.ErrUnavailable)

func setup(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{T: t, now: noon, log: &strings.Builder{}}
	w.store = memory.New(func() time.Time { return w.now }, memory.Options{
		Fault: func(memory.Call) error { return w.step() },
	})
	object := func(string, string, bool) error { return w.step() }
	w.archive, w.parking, w.snapshots = blobmemory.New(object), blobmemory.New(object), blobmemory.New(object)
	w.calls = schedulememory.New(object)
	w.bus = busmemory.New(func([]bus.Event, bool) error { return w.step() })
	var err error
	w.pepper, err = pepper.New(rand.NewChaCha8([32]byte{1}))
	require.NoError(t, err)
	require.NoError(t, w.store.Put(t.Context(), table.Put{Item: account.FormRow()}))
	return w
}

func (w *fixture) step() error {
	if w.isLooking {
		return nil
	}
	if w.watching != nil {
		w.watching()
	}
	if w.steps++; w.dieAt > 0 && w.steps >= w.dieAt {
		return errDied
	}
	return nil
}

func (w *fixture) config() account.Config {
	return account.Config{
		Store: w.store, Objects: w.archive, Pepper: w.pepper, Now: func() time.Time { return w.now },
	}
}

// part is the user's part of the name of a schedule.
func part(user string) string {
	sum := sha256.Sum256([]byte(user))
	return hex.EncodeToString(sum[:])[:11]
}

func (w *fixture) eraser() *account.Eraser {
	return account.NewEraser(account.EraserConfig{
		Config: w.config(), Archive: w.archive, Parking: w.parking, Snapshots: w.snapshots,
		Scheduler: w.calls, Schedules: w.calls, Bus: w.bus,
		Consumers: []string{"stats", "reminders"}, Digest: part,
		Log: slog.New(slog.NewTextHandler(w.log, nil)),
		NewID: func() string {
			w.ids++
			return fmt.Sprintf("worker %d", w.ids)
		},
		Wait: func(ctx context.Context, d time.Duration) error {
			w.now = w.now.Add(d)
			return ctx.Err()
		},
		Patience: account.Patience, EdgeTime: account.EdgeTime, Rate: account.Rate,
	})
}

func (w *fixture) service() *account.Service { return account.New(w.config()) }

// A revision that was committed, and one whose draft alone knows it.
var (
	revision  = repository.NewRevisionID(noon, "00000000-0000-4000-8000-000000000001")
	announced = repository.NewRevisionID(noon, "00000000-0000-4000-8000-000000000002")
)

// filled returns a shape of the register with the user and possible parts.
func filled(shape, user string) string {
	for part, text := range map[string]string{
		"<revId>": revision, "<Z>": item.FormatInstant(noon), "<date>": "2026-03-02", "<u>": user,
		"<11 of the user's digest>": part(user), "<consumer>": "stats",
	} {
		shape = strings.ReplaceAll(shape, part, text)
	}
	for {
		before, rest, found := strings.Cut(shape, "<")
		if !found {
			break
		}
		_, after, _ := strings.Cut(rest, ">")
		shape = before + "x1" + after
	}
	components := strings.Split(shape, "#")
	for i, component := range components {
		if component == "u" {
			components[i] = user
		}
	}
	return strings.Join(components, "#")
}

// populate gives a user something of every line of the register that an erasure removes, and returns their number.
func (w *fixture) populate(user string) int {
	w.Helper()
	made := 0
	for _, line := range register.Lines() {
		body := []byte(`{"key":"USER#` + user + `","text":"` + marker(user) + `"}`)
		name := filled(line.Shape, user)
		switch {
		case line.Erasure == register.ByWaiting || line.Erasure == register.Never:
			continue
		case line.Place == register.Archive:
			require.NoError(w, w.archive.Put(w.Context(), name, body))
		case line.Place == register.Snapshots:
			require.NoError(w, w.snapshots.Put(w.Context(), name, body))
		case line.Place == register.Parking:
			if line.Owner != register.ByName {
				name = strings.ReplaceAll(name, "x1", "of"+user)
			}
			require.NoError(w, w.parking.Put(w.Context(), name, body))
		case line.Place == register.Scheduler:
			require.NoError(w, w.calls.Put(w.Context(), schedule.Schedule{
				Name: name, At: w.now.Add(time.Hour).Truncate(time.Second), Payload: []byte(`{"userId":"` + user + `"}`),
			}))
		default:
			key := item.Key{PK: filled(string(line.Place), user), SK: name}
			if strings.HasPrefix(name, "DRAFT#") {
				key.SK = strings.ReplaceAll(name, revision, announced)
			}
			w.put(key, user)
			if at := strings.ReplaceAll(key.PK, revision, announced); at != key.PK { // a snapshot of either
				w.put(item.Key{PK: at, SK: name}, user)
				made++
			}
		}
		made++
	}
	return made
}

func (w *fixture) put(key item.Key, user string) {
	w.Helper()
	row := key.Item()
	row["title"] = item.String(marker(user))
	require.NoError(w, w.store.Put(w.Context(), table.Put{Item: row}))
}

// rows are all rows of the table.
func (w *fixture) rows() (all []item.Item) {
	w.Helper()
	require.NoError(w, w.store.Walk(w.Context(), 0, 1, func(it item.Item) error {
		all = append(all, it)
		return nil
	}))
	return all
}

// dump is everything there is, each thing as one text.
func (w *fixture) dump() []string {
	w.Helper()
	w.isLooking = true
	defer func() { w.isLooking = false }()
	var out []string
	for _, it := range w.rows() {
		out = append(out, fmt.Sprint("row ", it.Key(), " ", it))
	}
	for name, objects := range map[string]*blobmemory.Store{
		"archive ": w.archive, "parking ": w.parking, "snapshots ": w.snapshots,
	} {
		names, err := objects.List(w.Context(), "", 1000, "")
		require.NoError(w, err)
		for _, object := range names {
			body, err := objects.Get(w.Context(), object)
			require.NoError(w, err)
			out = append(out, name+object+" "+string(body))
		}
	}
	for _, e := range w.calls.Entries() {
		out = append(out, "schedule "+e.Name+" "+string(e.Payload))
	}
	slices.Sort(out)
	return out
}

// dataOf returns what there is of a user, by the id, the words and the user's part of names.
func (w *fixture) dataOf(user string) []string {
	return slices.DeleteFunc(w.dump(), func(text string) bool {
		isHere := strings.Contains(text, marker(user)) || strings.Contains(text, part(user))
		for _, end := range []string{"#", "/", `"`, " ", "]"} {
			for _, begin := range []string{"#", "/", `"`} {
				isHere = isHere || strings.Contains(text, begin+user+end)
			}
		}
		return !isHere
	})
}

// digest is that of everything of the users.
func (w *fixture) digest(users ...string) string {
	sum := sha256.New()
	for _, user := range users {
		for _, text := range w.dataOf(user) {
			fmt.Fprintln(sum, text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// erased erases a user whose request is due, by as many runs as it takes.
func (w *fixture) erased(user string) {
	w.Helper()
	for range 10 {
		err := w.erase(user)
		if err == nil {
			return
		}
		require.False(w, errors.Is(err, account.ErrNotDue), err)
	}
	require.Fail(w, "the erasure does not end")
}

func (w *fixture) erase(user string) error {
	_, err := w.eraser().Erase(w.Context(), user)
	return err
}

func (w *fixture) state(user string) account.State {
	w.Helper()
	state, _, err := w.service().State(w.Context(), user)
	require.NoError(w, err)
	return state
}

func (w *fixture) published() []string {
	var out []string
	for _, e := range w.bus.Events() {
		out = append(out, e.Type+" "+string(e.Detail))
	}
	return slices.Compact(out)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
