package calendar_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/calendar"
	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/table/tabletest"
)

var noon = time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC)

const ann, bob = "ann", "bob"

// isUncounted says that a mutant is at work: one that shows in the number of requests alone is a cost, no mistake.
var isUncounted = os.Getenv("NEXUS_UNCOUNTED") != ""

// counter is a source of bytes that differ from call to call.
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		c.n++
		p[i] = c.n
	}
	return len(p), nil
}

// fixture is the services on a store of their own, in virtual time.
type fixture struct {
	*require.Assertions
	t        testing.TB
	store    *memory.Store
	commands *command.Service
	calendar *calendar.Service
	importer *calendar.Importer

	mu    sync.Mutex
	now   time.Time
	ids   int
	fault func(memory.Call) error
	// paused acts in each pause of a command.
	paused func()
	calls  map[string]int
}

// setup holds every write against the conventions of the table.
func setup(t testing.TB) *fixture {
	b := begin(t)
	law := tabletest.NewLaw(b.store, product.Registry())
	t.Cleanup(func() { b.Empty(law.Broken()) })
	b.wire(law)
	return b
}

// setupFaulty is for tests that set faults or count calls: what holds the law reads rows back.
func setupFaulty(t testing.TB) *fixture {
	b := begin(t)
	b.wire(b.store)
	return b
}

func begin(t testing.TB) *fixture {
	t.Helper()
	b := &fixture{Assertions: require.New(t), t: t, now: noon, calls: map[string]int{}}
	b.store = memory.New(b.clock, memory.Options{Fault: func(c memory.Call) error {
		b.mu.Lock()
		fault := b.fault
		if c.Stage == memory.Before {
			b.calls[c.Op]++
		}
		b.mu.Unlock()
		if fault != nil {
			return fault(c)
		}
		return nil
	}, Witnessed: true})
	t.Cleanup(func() { require.Empty(t, b.store.Tampered(), "what was read is not to be changed") })
	return b
}

func (b *fixture) wire(store table.Store) {
	registry := product.Registry()
	b.commands = command.New(command.Config{
		Store: store, Registry: registry, Now: b.clock, NewID: b.newID, Pause: b.pause,
	})
	b.calendar = calendar.New(calendar.Config{
		Store: store, Registry: registry, Now: b.clock, Random: io.Reader(&counter{}),
	})
	b.importer = calendar.NewImporter(b.commands, registry)
}

// pause passes in the bench's own time. Others may act in it.
func (b *fixture) pause(_ context.Context, most time.Duration) error {
	b.advance(most)
	b.mu.Lock()
	paused := b.paused
	b.mu.Unlock()
	if paused != nil {
		paused()
	}
	return nil
}

func (b *fixture) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *fixture) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *fixture) newID() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids++
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", b.ids)
}

// create makes an entity of a client's fields.
func (b *fixture) create(user string, t *entity.Type, fields map[string]any) string {
	b.t.Helper()
	res, err := b.commands.Do(b.t.Context(), command.Request{User: user, Command: command.Create{Type: t, Fields: fields}})
	b.NoError(err)
	return res.Ref.ID
}

func (b *fixture) remove(user string, t *entity.Type, id string) {
	b.t.Helper()
	row, err := b.store.Get(b.t.Context(), entity.ItemKey(user, entity.Ref{Type: t.Name, ID: id}))
	b.NoError(err)
	version := row.Int(entity.AttrVersion)
	_, err = b.commands.Do(b.t.Context(), command.Request{
		User: user, ExpectedVersion: &version, Command: command.Delete{Type: t, ID: id},
	})
	b.NoError(err)
}

// put stores an item as it is.
func (b *fixture) put(it item.Item) {
	b.t.Helper()
	b.NoError(b.store.Put(context.Background(), table.Put{Item: it}))
}

func (b *fixture) export(user string) calendar.Export {
	b.t.Helper()
	e, err := b.calendar.Export(b.t.Context(), user, 0)
	b.NoError(err)
	return e
}

// text joins lines as the standard ends them, in a VCALENDAR.
func text(lines ...string) []byte {
	all := append(append([]string{"BEGIN:VCALENDAR", "VERSION:2.0"}, lines...), "END:VCALENDAR", "")
	return []byte(strings.Join(all, "\r\n"))
}

func event(fields ...any) map[string]any {
	doc := map[string]any{"title": "t", "startUtc": "2025-12-10T09:00:00Z", "startTzid": "Europe/Berlin"}
	for i := 0; i < len(fields); i += 2 {
		doc[fields[i].(string)] = fields[i+1]
	}
	return doc
}

// master is a stored series of nine o'clock in Berlin.
func (b *fixture) master(user, n string, fields item.Item) item.Item {
	b.t.Helper()
	all := item.Item{
		"title": item.String("Series"), "startUtc": item.String("2025-12-10T08:00:00Z"),
		"endUtc": item.String("2025-12-10T09:00:00Z"), "startTzid": item.String("Europe/Berlin"),
		"status": item.String("CONFIRMED"), "isAllDay": item.Bool(false),
	}
	for name, v := range fields {
		all[name] = v
	}
	it := product.Master().NewItem(user, "mst_"+n, all, b.clock(), nil)
	b.Empty(product.Master().Validate(it))
	return it
}

// instance is a stored exception with these fields of its own.
func instance(master item.Item, date string, own item.Item) item.Item {
	day, _ := item.ParseCompactDate(date)
	fields := item.Item{
		product.AttrMasterID: master[product.AttrMasterID], product.AttrIsAllDay: item.Bool(false),
		"startTzid":              master["startTzid"],
		"startUtc":               item.String(item.FormatInstant(day.Add(8 * time.Hour))),
		"endUtc":                 item.String(item.FormatInstant(day.Add(9 * time.Hour))),
		product.AttrRecurrenceID: item.String(item.FormatInstant(day.Add(8 * time.Hour))),
	}
	names := item.List{}
	for name, v := range own {
		fields[name] = v
		names = append(names, item.String(name))
	}
	fields.Set(product.AttrModifiedFields, names)
	created, _ := master.Time(entity.AttrCreatedAt)
	user, _ := entity.ParseUserPK(master.Str(item.AttrPK))
	id := entity.InstanceID(master.Str(product.AttrMasterID), date)
	return product.Instance().NewItem(user, id, fields, created, nil)
}

// report is the answer to an import.
type report struct {
	Created, Updated, Unchanged, LeftOutTotal int
	Refused, LeftOut                          []calendar.Remark
}

func (b *fixture) imports(user string, text []byte) report {
	b.t.Helper()
	answer, _, err := b.importer.Import(b.t.Context(), user, text, "")
	b.NoError(err)
	var r report
	b.NoError(json.Unmarshal(answer, &r))
	return r
}

// rows is everything in the table, as text by key.
func (b *fixture) rows() map[string]string {
	b.t.Helper()
	rows := map[string]string{}
	b.NoError(b.store.Walk(b.t.Context(), 0, 1, func(it item.Item) error {
		rows[it.Key().String()] = string(change.AppendItem(nil, it))
		return nil
	}))
	return rows
}

var eventType = product.Event()

func sameRows(a, b map[string]string) bool { return maps.Equal(a, b) }
