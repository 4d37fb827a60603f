package projection

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// itemOf names an item of a batch.
type itemOf struct{ user, id string }

// group holds the records of a batch for one item.
type group struct {
	move
	lowest  int64   // the version of the record with the expected state of the ledger
	refused []*move // the records whose contributions no row can hold, one move for each
	unsure  bool    // the rows that the item left decide
}

// fold groups a batch by item. It orders by version, never by position: of the records of one item the lowest has the
// expected state of the ledger, the highest the new one. It leaves out records that do not change the contribution. So
// the final version of a ledger row does not depend on how batches were cut. Records that change it need a move even
// if they cancel out: otherwise the middle one could be delivered again and take effect.
func (p *Projection) fold(batch []change.Change, now time.Time) []*move {
	index := map[itemOf]*group{}
	var groups []*group
	for i, c := range batch {
		if c.Type == nil {
			continue
		}
		from, to, unsure := p.between(c)
		if from == to && !unsure {
			continue
		}
		item := itemOf{c.User, c.Ref.ID}
		g := index[item]
		if g == nil {
			g = &group{move: move{user: c.User, ref: c.Ref, typ: c.Type}, lowest: c.Version + 1}
			index[item] = g
			groups = append(groups, g)
		}
		g.unsure = g.unsure || unsure
		g.aged = g.aged || now.Sub(c.Created) > agedAfter
		g.begin(p, c.Version, from)
		g.end(p, i, c.Version, to)
	}
	var moves []*move
	for _, g := range groups {
		moves = append(moves, g.moves()...)
	}
	return moves
}

// Keeps reports whether what an expired item contributed stays, so that a verification needs the cold copy.
func (p *Projection) Keeps() bool {
	_, isIndex := p.shape.(*IndexSpec)
	return isIndex
}

// between returns what a record's item contributed before and after. An expiry changes nothing of a projection that
// keeps. Unsure is a removal past the item's ttl: what TTL removes in another region arrives here without the identity
// of the TTL service. The rows that an item leaves tell whether its user deleted it.
func (p *Projection) between(c change.Change) (from, to string, unsure bool) {
	from, to = p.contribution(c.Type, c.Old), p.contribution(c.Type, c.New)
	if c.New != nil || !p.Keeps() {
		return from, to, false
	}
	unsure = c.Kind == change.Removed && from != "" && entity.Expired(c.Old, c.Created)
	if c.Kind == change.Expired || unsure {
		to = from
	}
	return from, to, unsure
}

// begin records the state before a record. The ledger never had a contribution that no row can hold.
func (g *group) begin(p *Projection, version int64, from string) {
	if p.refuses(g.user, g.ref, from) != nil {
		from = ""
	}
	if version < g.lowest {
		g.lowest, g.from = version, from
	}
	g.facts = g.facts.join(p.shape.facts(from))
}

// end records the state after a record.
func (g *group) end(p *Projection, record int, version int64, to string) {
	if err := p.refuses(g.user, g.ref, to); err != nil {
		g.refused = append(g.refused, &move{
			user: g.user, ref: g.ref, version: version, records: []int{record}, state: poison, err: err,
		})
		return
	}
	if version >= g.version {
		g.version, g.to = version, to
	}
	g.records = append(g.records, record)
	g.facts = g.facts.join(p.shape.facts(to))
}

// moves returns one move for the records that the ledger can follow, and one for each record that it cannot. A refused
// record that a valid one follows in the batch is done with it: the later contribution takes the place of its own.
func (g *group) moves() []*move {
	var out []*move
	for _, m := range g.refused {
		if m.version < g.version {
			g.records = append(g.records, m.records...)
		} else {
			out = append(out, m)
		}
	}
	if len(g.records) == 0 {
		return out
	}
	if g.aged && g.from == "" || g.unsure {
		g.state = needsItem // it would add a contribution of a deleted item: do not rely on it
	}
	return append(out, &g.move)
}

// unfinished returns the moves to try again.
func unfinished(moves []*move) []*move {
	var open []*move
	for _, m := range moves {
		if m.state == pending || m.state == needsItem {
			open = append(open, m)
		}
	}
	return open
}

const (
	// maxPending bounds the contribution of a pending entry: the row that holds the sum has other writers, who need the
	// room.
	maxPending = 16 << 10
	// maxSingles is how many moves of a batch are applied with single writes, one after another. Transactions cost twice
	// as much, and take a tenth of the time: a reader whose batches have more moves is behind, and needs the time.
	maxSingles = 25
)

// singles returns the moves to apply with single writes: those that are alone of their user in the batch, if they are
// few.
func singles(moves []*move) []*move {
	open := unfinished(moves)
	ofUser := map[string]int{}
	for _, m := range open {
		ofUser[m.user]++
	}
	open = slices.DeleteFunc(open, func(m *move) bool {
		return m.state != pending || ofUser[m.user] > 1 || len(m.to) > maxPending
	})
	if len(open) > maxSingles {
		return nil
	}
	return open
}

// contribution returns that of an image: nothing for a missing one, for rows that are no entities, and for settings.
func (p *Projection) contribution(t *entity.Type, it item.Item) string {
	if t == nil || it == nil || !t.HasCollection() {
		return ""
	}
	return p.shape.contribution(t, it)
}

func (s *RowsSpec) contribution(t *entity.Type, it item.Item) string {
	edges := slices.Clone(s.Edges(t, it))
	slices.Sort(edges)
	return withRevision(s.Revision, strings.Join(slices.Compact(edges), "\n"))
}

func (s *SumSpec) contribution(t *entity.Type, it item.Item) string {
	amounts := s.Amounts(t, it)
	if len(amounts.Add) == 0 && len(amounts.Max) == 0 && amounts.Open == "" {
		return ""
	}
	text, err := json.Marshal(amounts) // map keys are sorted: canonical
	if err != nil {
		panic(fmt.Sprintf("projection %s: %v", s.Name, err)) // texts and numbers only: cannot happen
	}
	return withRevision(s.Revision, string(text))
}

func (s *IndexSpec) contribution(t *entity.Type, it item.Item) string {
	sortKey, text := s.Place(t, it)
	if sortKey == "" {
		return ""
	}
	return withRevision(s.Revision, sortKey+" "+text)
}

// withRevision marks a contribution with the revision of the function that made it, so that a changed function never
// mistakes an old contribution for its own.
func withRevision(revision string, body string) string {
	if body == "" {
		return ""
	}
	return revision + " " + body
}

func withoutRevision(c string) string {
	_, body, _ := strings.Cut(c, " ")
	return body
}

// edgesOf reads a contribution to rows.
func edgesOf(c string) []string {
	if c == "" {
		return nil
	}
	return strings.Split(withoutRevision(c), "\n")
}

// keyOf returns the key of the row of an edge in a ledger row. A damaged ledger row may contain anything: not ok for
// an edge without a possible row.
func (s *RowsSpec) keyOf(user string, source entity.Ref, edge string) (key item.Key, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	row := s.Row(user, source, edge)
	return row.Key(), table.CheckKeys(schema, row) == nil
}

// amountsOf reads a contribution to a sum. One that cannot be read adds nothing; only this package writes the ledger.
func amountsOf(c string) Amounts {
	var amounts Amounts
	if c == "" {
		return amounts
	}
	_ = json.Unmarshal([]byte(withoutRevision(c)), &amounts)
	return amounts
}

// facts are texts of which the greatest counts.
type facts map[string]string

func (*RowsSpec) facts(string) facts { return nil }

func (*IndexSpec) facts(string) facts { return nil }

func (*SumSpec) facts(c string) facts {
	if !strings.Contains(c, `"max":`) { // most have none, and reading a contribution takes longer
		return nil
	}
	return amountsOf(c).Max
}

// join replaces texts of f by greater ones of more.
func (f facts) join(more facts) facts {
	if len(more) == 0 {
		return f
	}
	out := maps.Clone(f)
	if out == nil {
		out = facts{}
	}
	for name, text := range more {
		out[name] = max(out[name], text)
	}
	return out
}

var schema = table.ProductSchema()

// Bounds of a contribution, in addition to those of rows and keys.
const (
	// maxFact bounds each text of which the greatest counts, in bytes: a deleted item leaves it in the sum.
	maxFact = table.MaxSKBytes
	// ledgerOverhead exceeds the size of a ledger row without its texts: names, numbers and keys of bounded size.
	ledgerOverhead = 128
)

// refuses returns why no ledger row can hold an item's contribution, and nil if one can. It runs before anything is
// written: an entry that was counted first and then refused would block all later ones.
func (p *Projection) refuses(user string, ref entity.Ref, c string) error {
	if rows, isRows := p.shape.(*RowsSpec); isRows {
		for i, edge := range edgesOf(c) {
			if _, ok := rows.keyOf(user, ref, edge); !ok { // the edge may be a user's text, which no error names
				return fmt.Errorf("contribution of %d bytes: %w: no row can hold edge %d", len(c), table.ErrInvalid, i+1)
			}
		}
	}
	if len(c)+len(ref.ID)+len(p.name) < maxFact-ledgerOverhead {
		return nil // a deletion is always accepted, under every key
	}
	if len(c) > table.MaxItemBytes {
		return tooMuch(c)
	}
	row := p.ledgerRow(&move{user: user, ref: ref, to: c}, time.Time{})
	if err := table.CheckKeys(schema, row); err != nil {
		return fmt.Errorf("contribution of %d bytes: %w", len(c), err)
	}
	size := ledgerOverhead
	for name, v := range row {
		text, _ := v.(item.String)
		size += len(name) + len(text)
	}
	if size > table.MaxItemBytes {
		return tooMuch(c)
	}
	for name, text := range p.shape.facts(c) {
		if len(text) > maxFact {
			return fmt.Errorf("contribution of %d bytes: %w: %d bytes in max of %.40q, at most %d",
				len(c), table.ErrInvalid, len(text), name, maxFact)
		}
	}
	return nil
}

func tooMuch(c string) error {
	return fmt.Errorf("contribution of %d bytes: %w: more than a row holds", len(c), table.ErrInvalid)
}

// Attributes of a ledger row.
const (
	attrVersion      = "v"
	attrContribution = "c"
)

// tombstoneLife is how long the ledger row of an item without a contribution stays.
const tombstoneLife = 30 * 24 * time.Hour

// ledgerRow returns the row that the move writes. A row with an empty contribution is a tombstone and expires; any
// other does not.
func (p *Projection) ledgerRow(m *move, now time.Time) item.Item {
	row := entity.LedgerKey(m.user, p.name, m.ref.ID).Item()
	row[attrVersion] = item.Int(m.version)
	row[attrContribution] = item.String(m.to)
	if m.to == "" {
		row[entity.AttrTTL] = item.Int(now.Add(tombstoneLife).Unix())
	}
	p.index(row, m.user, m.to)
	return row
}

// index gives a ledger row its key in the index for counts at read time.
func (p *Projection) index(row item.Item, user, c string) {
	if open := p.shape.ledgerIndex(c); open != "" {
		row[item.AttrGSI3PK] = item.String(entity.UserPK(user))
		row[item.AttrGSI3SK] = item.String(open)
	}
}

func (*RowsSpec) ledgerIndex(string) string { return "" }

func (*SumSpec) ledgerIndex(c string) string {
	if !strings.Contains(c, `"open":`) {
		return ""
	}
	return amountsOf(c).Open
}

func (*IndexSpec) ledgerIndex(c string) string {
	sortKey, _, _ := strings.Cut(withoutRevision(c), " ")
	return sortKey
}
