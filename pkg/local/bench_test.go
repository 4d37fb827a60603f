package local_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	blobs "nexus/pkg/blob/memory"
	"nexus/pkg/bus"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/calendar"
	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/eventsource/streams"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/local/engine"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/queue"
	queuememory "nexus/pkg/queue/memory"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	schedulelocal "nexus/pkg/schedule/local"
	"nexus/pkg/stats"
	assembly "nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/table/memory"
	"nexus/pkg/table/tabletest"
)

const ann = "ann"

// fixture is every part of the system on one store, with the stream in the test's hands: it decides which record
// reaches which consumer, when and how often.
type fixture struct {
	t        *testing.T
	now      time.Time
	store    table.Store
	law      *tabletest.Law // the store, holding every call against the conventions
	source   eventsource.Source
	walk     table.Walker
	swept    map[item.Key]bool // removed as the TTL service does
	read     string
	records  []change.Change
	settled  int // how many of them were delivered
	commands *command.Service
	queries  *query.Service
	archive  *archive.Archive
	calendar *calendar.Service
	importer *calendar.Importer

	consumers                       []change.Consumer // all
	stats, links, reminders, keeper change.Consumer
	schedules                       *schedulelocal.Scheduler
	bus                             *busmemory.Bus
	failBus                         func(after bool) error
	carryOut                        func() // the walks that records have set off
}

// onBothStores runs a history on the memory store and on the engine over HTTP.
func onBothStores(t *testing.T, history func(t *testing.T, b *fixture)) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		b := &fixture{t: t, now: time.Date(2025, 6, 1, 8, 0, 0, 0, time.UTC)}
		store := memory.New(func() time.Time { return b.now }, memory.Options{})
		b.store, b.source, b.walk = store, store.Feed(), store
		b.setup()
		history(t, b)
	})
	t.Run("engine", func(t *testing.T) {
		t.Parallel()
		b := &fixture{t: t, now: time.Now().UTC().Truncate(time.Second)}
		endpoint, name := enginetest.Table(t)
		client := enginetest.Client(endpoint)
		b.store = dynamo.New(client, dynamo.WithTable(name))
		b.walk = dynamo.NewWalker(client, dynamo.WithTable(name))
		out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		require.NoError(t, err)
		b.source = streams.New(dynamodbstreams.New(dynamodbstreams.Options{
			BaseEndpoint: &endpoint, Region: engine.DefaultRegion,
			Credentials: client.Options().Credentials,
			HTTPClient:  &http.Client{Transport: engine.Transport(nil, engine.Options{})},
		}), aws.ToString(out.Table.LatestStreamArn), nil)
		b.setup()
		history(t, b)
	})
}

func (b *fixture) setup() {
	registry, clock := product.Registry(), func() time.Time { return b.now }
	b.law = tabletest.NewLaw(b.store, registry)
	b.store = b.law
	b.t.Cleanup(func() { require.Empty(b.t, b.law.Broken()) })
	b.swept = map[item.Key]bool{}
	b.bus = busmemory.New(func(_ []bus.Event, after bool) error {
		if b.failBus != nil {
			return b.failBus(after)
		}
		return nil
	})
	var err error
	var assembled *assembly.System
	walks := queuememory.New(nil)
	b.schedules, err = schedulelocal.New(
		schedulelocal.Config{Target: func(ctx context.Context, s schedule.Schedule) error {
			return assembled.Notifier.Handle(ctx, s.Payload)
		}})
	require.NoError(b.t, err)
	assembled, err = assembly.New(registry, assembly.Ports{
		Store: func(string) table.Store { return b.store }, Now: clock, NewID: uuid.NewString, Random: rand.Reader,
		Pause:     func(context.Context, time.Duration) error { return nil },
		Scheduler: b.schedules, Bus: b.bus, Announces: archive.Events(), Copies: blobs.New(nil), Queue: walks,
	})
	require.NoError(b.t, err)
	b.carryOut = func() {
		walks.Work(func(m queue.Message) error { return assembled.Walker.Handle(b.t.Context(), m.Body) })
		require.Empty(b.t, walks.Dead())
	}
	b.commands, b.queries, b.archive = assembled.Commands, assembled.Queries, assembled.Archive
	b.calendar, b.importer = assembled.Calendar, calendar.NewImporter(b.commands, registry)
	b.consumers = assembled.Consumers
	b.stats, b.links = b.consumer(stats.Name), b.consumer(links.Name)
	b.reminders, b.keeper = b.consumer(reminders.Name), b.consumer(archive.Name)
}

func (b *fixture) consumer(name string) change.Consumer {
	b.t.Helper()
	i := slices.IndexFunc(b.consumers, func(c change.Consumer) bool { return c.Name() == name })
	require.GreaterOrEqual(b.t, i, 0, name)
	return b.consumers[i]
}

// do carries out a command of ann's; expected, if given, is the item whose version it is meant for.
func (b *fixture) do(c command.Command, expected ...item.Item) item.Item {
	b.t.Helper()
	result, err := b.try(c, expected...)
	require.NoError(b.t, err, "%T", c)
	return result.Item
}

func (b *fixture) try(c command.Command, expected ...item.Item) (command.Result, error) {
	request := command.Request{User: ann, Command: c}
	if len(expected) > 0 {
		version := expected[0].Int(entity.AttrVersion)
		request.ExpectedVersion = &version
	}
	return b.commands.Do(b.t.Context(), request)
}

// drain takes what the stream has to hand and returns the new records that a mapping would pass.
func (b *fixture) drain() []change.Change {
	b.t.Helper()
	shards, err := b.source.Shards(b.t.Context())
	require.NoError(b.t, err)
	from := len(b.records)
	for {
		slice, err := b.source.Read(b.t.Context(), shards[0].ID, b.read, 1000)
		require.NoError(b.t, err)
		if len(slice.Records) == 0 {
			return b.records[from:]
		}
		for _, rec := range slice.Records {
			b.read = rec.Sequence
			rec.Expired = rec.Expired || rec.Name == change.Remove && b.swept[rec.Key]
			c, err := change.Interpret(product.Registry(), rec)
			require.NoError(b.t, err)
			if c.Type != nil || c.Kind == change.Expired {
				b.records = append(b.records, c)
			}
		}
	}
}

// deliverAll delivers every record that was not delivered yet to every consumer, and what that brings about.
func (b *fixture) deliverAll() {
	b.t.Helper()
	for b.drain(); b.settled < len(b.records); b.drain() {
		c := b.records[b.settled]
		b.settled++
		for _, consumer := range b.consumers {
			b.deliver(consumer, c)
		}
	}
}

func (b *fixture) deliver(consumer change.Consumer, batch ...change.Change) {
	b.t.Helper()
	for _, o := range consumer.Apply(b.t.Context(), batch) {
		require.NoError(b.t, o.Err, consumer.Name())
	}
	b.carryOut()
}

// advance moves the clock, fires what is due, and removes what has expired.
func (b *fixture) advance(d time.Duration) {
	b.t.Helper()
	b.now = b.now.Add(d)
	_, err := b.schedules.Fire(b.t.Context(), b.now)
	require.NoError(b.t, err)
	var expired []item.Item
	require.NoError(b.t, b.walk.Walk(b.t.Context(), 0, 1, func(row item.Item) error {
		if entity.Expired(row, b.now) {
			expired = append(expired, row)
		}
		return nil
	}))
	for _, row := range expired {
		b.swept[row.Key()] = true
		require.NoError(b.t, b.law.Store.Delete(b.t.Context(), table.Delete{Key: row.Key()})) // no client's call
	}
	b.deliverAll()
}

// rows returns the rows of ann's whose sort key has the prefix.
func (b *fixture) rows(prefix string) []item.Item {
	b.t.Helper()
	page, err := b.store.Query(b.t.Context(), table.Query{
		Partition: entity.UserPK(ann), Range: table.Range{Prefix: prefix},
	})
	require.NoError(b.t, err)
	return page.Items
}

// total is one number of the statistics.
func (b *fixture) total(name string) int64 {
	b.t.Helper()
	me, err := b.queries.Me(b.t.Context(), ann)
	require.NoError(b.t, err)
	return me.Map(product.AttrStats).Int(name)
}

// events returns the details of a type published so far.
func (b *fixture) events(eventType string) []string {
	b.t.Helper()
	var details []string
	for _, e := range b.bus.Events() {
		if e.Type == eventType {
			details = append(details, string(e.Detail))
		}
	}
	return details
}

// notes creates notes for the links to lead to.
func (b *fixture) notes(n int) []item.Item {
	b.t.Helper()
	notes := make([]item.Item, n)
	for i := range notes {
		notes[i] = b.do(command.Create{Type: product.Note(), Fields: map[string]any{"title": fmt.Sprintf("note %d", i)}})
	}
	return notes
}
