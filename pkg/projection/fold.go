package projection

import (
	"time"

	"nexus/pkg/change"
)

// itemOf names an item of a batch.
type itemOf struct{ user, id string }

// group is the records of a batch for one item.
type group struct {
	move
	lowest  int64   // the version of the record that says where the ledger is expected
	refused []*move // the records whose contributions no row can hold, each by itself
}

// fold groups a batch by item. It goes by version, never by position: of the records of one item the lowest says where
// the ledger is expected, the highest where it is to go. Records that leave the contribution as it was are left out, so
// that the version a ledger row ends at does not depend on how batches were cut. Those that did not need a move even if
// they cancel out, or the middle one would come back and stick.
func (p *Projection) fold(batch []change.Change, now time.Time) []*move {
	index := map[itemOf]*group{}
	var groups []*group
	for i, c := range batch {
		if c.Type == nil {
			continue
		}
		from, to := p.contribution(c.Type, c.Old), p.contribution(c.Type, c.New)
		if from == to {
			continue
		}
		item := itemOf{c.User, c.Ref.ID}
		g := index[item]
		if g == nil {
			g = &group{move: move{user: c.User, ref: c.Ref, typ: c.Type}, lowest: c.Version + 1}
			index[item] = g
			groups = append(groups, g)
		}
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

// begin takes in what a record starts from. The ledger never had a contribution that no row can hold.
func (g *group) begin(p *Projection, version int64, from string) {
	if p.refuses(g.user, g.ref.ID, from) != nil {
		from = ""
	}
	if version < g.lowest {
		g.lowest, g.from = version, from
	}
	g.facts = g.facts.join(p.shape.facts(from))
}

// end takes in where a record goes.
func (g *group) end(p *Projection, record int, version int64, to string) {
	if err := p.refuses(g.user, g.ref.ID, to); err != nil {
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

// moves are one move for what the ledger can follow, and one for each record that it cannot. A record that was refused
// and is followed by one that was not has become as good as any.
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
	if g.aged && g.from == "" {
		g.state = needsItem // it would bring the item's contribution to life: do not believe it
	}
	return append(out, &g.move)
}
