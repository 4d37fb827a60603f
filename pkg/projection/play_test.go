package projection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/interleave"
	"nexus/pkg/table/memory"
)

// titles is a sum by which every miscount shows: notes by title, the latest title, and a place for each.
func titles() *projection.Projection {
	return projection.NewOwnSum("titles", "t1", func(t *entity.Type, it item.Item) projection.Amounts {
		title := it.Str(entity.AttrTitle)
		return projection.Amounts{
			Add: map[string]int64{title: 1}, Max: map[string]string{"latest": title}, Open: "at-" + title,
		}
	})
}

// scene is the world of one play: a user's notes, their records, and a projection of them.
type scene struct {
	store   *memory.Store
	now     time.Time
	p       *projection.Projection
	records []change.Change // of everything that was written or will be
	errs    map[string]error
	staging bool // repairs stage each row
}

func newScene(p *projection.Projection) *scene {
	s := &scene{now: morning, p: p, errs: map[string]error{}}
	s.store = memory.New(s.clock, memory.Options{})
	return s
}

func (s *scene) clock() time.Time { return s.now }

func (s *scene) consumer(store table.Store) *projection.Consumer {
	return projection.NewConsumer(s.p, store, s.clock)
}

// life returns the records of one note: its first record, and one for each later title; an empty one is its end. A
// title is followed by the ids that the note links to.
func life(id string, states ...string) []change.Change {
	var out []change.Change
	for i, state := range states {
		words := strings.Fields(state)
		switch {
		case i == 0:
			c := titled("ann", id, words[0])
			entity.SetLinks(c.New, linksTo(words[1:]))
			out = append(out, c)
		case len(words) == 0:
			c := out[i-1]
			c.Kind, c.Old, c.New = change.Removed, c.New, nil
			c.Version++
			out = append(out, c)
		default:
			c := retitled(out[i-1], words[0])
			entity.SetLinks(c.New, linksTo(words[1:]))
			out = append(out, c)
		}
	}
	return out
}

func linksTo(ids []string) (out []entity.Link) {
	for _, id := range ids {
		out = append(out, entity.Link{Target: entity.Ref{Type: product.TypeTask, ID: id}})
	}
	return out
}

// write puts the item of a record as the record leaves it.
func write(ctx context.Context, store table.Store, c change.Change) error {
	if c.New == nil {
		return store.Delete(ctx, table.Delete{Key: c.Key})
	}
	return store.Put(ctx, table.Put{Item: c.New})
}

// happened writes the items of records ahead of the play.
func (s *scene) happened(records ...change.Change) {
	for _, c := range records {
		must(write(context.Background(), s.store, c))
	}
	s.records = append(s.records, records...)
}

// applied has the consumer apply records ahead of the play.
func (s *scene) applied(records ...change.Change) {
	for _, c := range records {
		for _, o := range s.consumer(s.store).Apply(context.Background(), []change.Change{c}) {
			must(o.Err)
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// applies is a worker that delivers batches to the consumer, once each.
func (s *scene) applies(name string, batches ...[]change.Change) interleave.Worker {
	return interleave.Worker{Name: name, Run: func(ctx context.Context, store *interleave.Store) {
		for _, batch := range batches {
			for _, o := range s.consumer(store).Apply(ctx, batch) {
				if o.Verdict == change.Poison {
					panic(fmt.Sprintf("poison: %v", o.Err))
				}
			}
		}
	}}
}

// writes is a client, whose records come afterwards.
func (s *scene) writes(name string, records ...change.Change) interleave.Worker {
	s.records = append(s.records, records...)
	return interleave.Worker{Name: name, Reliable: true, Run: func(ctx context.Context, store *interleave.Store) {
		for _, c := range records {
			must(write(ctx, store, c))
		}
	}}
}

// passes is a worker that lets time pass.
func (s *scene) passes(d time.Duration) interleave.Worker {
	return interleave.Worker{Name: "time", Reliable: true, Run: func(_ context.Context, store *interleave.Store) {
		store.Do("passes", func() { s.now = s.now.Add(d) })
	}}
}

// deliverAll delivers every record, again and again until all are done, in batches of so many.
func (s *scene) deliverAll(size int) error {
	for range 5 {
		isDone := true
		for batch := range slices.Chunk(s.records, size) {
			for _, o := range s.consumer(s.store).Apply(context.Background(), batch) {
				if o.Verdict == change.Poison {
					return o.Err
				}
				isDone = isDone && o.Verdict == change.Done
			}
		}
		if isDone {
			return nil
		}
	}
	return errors.New("records do not come to an end")
}

// late delivers each record once more by itself, and then, when tombstones are gone, what is new: one alone and two
// together.
func (s *scene) late() error {
	for _, c := range s.records {
		s.apply(c)
		if err := s.recount(); err != nil {
			return fmt.Errorf("version %d of %s again: %w", c.Version, c.Ref.ID, err)
		}
	}
	s.now = s.now.Add(31 * 24 * time.Hour)
	s.store.Sweep(s.now, 100)
	for _, ids := range [][]string{{"note_7"}, {"note_8", "note_9"}} {
		var batch []change.Change
		for _, id := range ids {
			c := life(id, "new")[0]
			c.Created = s.now
			s.happened(c)
			batch = append(batch, c)
		}
		s.apply(batch...)
		if err := s.recount(); err != nil {
			return fmt.Errorf("a month later: %w", err)
		}
	}
	return nil
}

// apply delivers one batch, which has to be done.
func (s *scene) apply(batch ...change.Change) {
	for _, o := range s.consumer(s.store).Apply(context.Background(), batch) {
		must(o.Err)
	}
}

// notes are the user's notes by id, those that are gone as nil.
func (s *scene) notes() map[string]item.Item {
	out := map[string]item.Item{}
	for _, c := range s.records {
		it, err := table.Find(context.Background(), s.store, c.Key)
		if err != nil {
			panic(err)
		}
		out[c.Ref.ID] = it
	}
	return out
}

func (s *scene) query(prefix string) []item.Item {
	page, err := s.store.Query(context.Background(), table.Query{
		Partition: entity.UserPK("ann"), Range: table.Range{Prefix: prefix},
	})
	must(err)
	return page.Items
}

// recount holds ledger, sum and rows against docs/correctness.md: for each item one ledger row with what it
// contributes, at its place, without an end; for one that is gone a row without a contribution, that ends, or none; a
// sum of what the items contribute, and of latest titles the greatest of all that ever were; a link row for each link
// and no other.
func (s *scene) recount() error {
	sum, latest, edges := map[string]int64{}, "", []string{}
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, c := range s.records {
		for _, image := range []item.Item{c.Old, c.New} {
			latest = max(latest, image.Str(entity.AttrTitle))
		}
	}
	for id, it := range s.notes() {
		if it != nil {
			sum[it.Str(entity.AttrTitle)]++
		}
		var targets []string
		for _, l := range entity.LinksOf(it) {
			targets = append(targets, l.Target.Type+"/"+l.Target.ID)
			edges = append(edges, entity.LinkKey("ann", entity.Ref{Type: product.TypeNote, ID: id}, l.Target).SK)
		}
		slices.Sort(targets)
		row, err := table.Find(context.Background(), s.store, entity.LedgerKey("ann", s.p.Name(), id))
		if err != nil {
			return err
		}
		want := strings.Join(targets, "\n")
		if s.p.Summed() && it != nil {
			want = it.Str(entity.AttrTitle)
		}
		if has := contributed(row); has != want {
			wrong("ledger of %s has %q, not %q", id, has, want)
		}
		if row != nil && row.Has(entity.AttrTTL) != (want == "") {
			wrong("ledger row of %s with %q has ttl: %v", id, want, row.Has(entity.AttrTTL))
		}
	}
	if !s.p.Summed() {
		var rows []string
		for _, row := range s.query(entity.LinksPrefix(product.TypeNote)) {
			rows = append(rows, row.Key().SK)
		}
		slices.Sort(edges)
		if !slices.Equal(rows, edges) {
			wrong("link rows %v, not %v", rows, edges)
		}
		return errors.Join(errs...)
	}
	target, err := table.Find(context.Background(), s.store, s.p.Target("ann"))
	if err != nil {
		return err
	}
	has := map[string]int64{}
	for name := range target.Map("sum") {
		if name != "latest" {
			has[name] = target.Map("sum").Int(name)
		}
	}
	if !maps.Equal(has, sum) {
		wrong("the sum is %v, not %v", has, sum)
	}
	if got := target.Map("sum").Str("latest"); got != latest {
		wrong("latest is %q, not %q", got, latest)
	}
	return errors.Join(errs...)
}

// contributed returns the contribution of a ledger row: a title, or edges.
func contributed(row item.Item) string {
	_, body, _ := strings.Cut(row.Str("c"), " ")
	if !strings.HasPrefix(body, "{") {
		return body
	}
	var amounts projection.Amounts
	must(json.Unmarshal([]byte(body), &amounts))
	for title, n := range amounts.Add {
		if n == 1 && len(amounts.Add) == 1 && amounts.Open == "at-"+title && row.Str(item.AttrGSI3SK) == "at-"+title {
			return title
		}
	}
	return "no title: " + body
}

// explore plays a scene in every order, and fails with the first that is judged to be wrong.
func explore(t *testing.T, name string, o interleave.Options, make func() interleave.World) {
	t.Helper()
	long.Only(t, "plays every order, one call at a time")
	result, err := interleave.Explore(t.Context(), make, o)
	require.NoError(t, err, "%s, play %d", name, result.Plays)
	t.Logf("%s: %d plays", name, result.Plays)
}

func linkRow(target string) item.Item {
	return links.Row("ann", entity.Ref{Type: product.TypeNote, ID: "note_1"}, product.TypeTask+"/"+target)
}
