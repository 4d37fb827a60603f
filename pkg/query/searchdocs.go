package query

import (
	"slices"
	"strings"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/search"
	"nexus/pkg/series"
)

// Flags of the documents of a search.
const (
	flagPinned search.Flags = 1 << iota
	flagRecurring
	flagAllDay
	// flagSilent is of an exception that is no hit: it has no words of its own, its series has lost its date, or it
	// cannot be read. It is kept because it says when its series takes place.
	flagSilent
)

// indexing brings things of a user into an index. A series and its exceptions depend on each other, so their documents
// are made together, at the end.
type indexing struct {
	*Service
	index *search.Index
	// bytes counts those of the texts of single things.
	bytes int
	// of has the series and the exceptions that changed, by the series' id.
	of map[string]*grouped
}

// grouped is a series with its exceptions, each by its id. One that is gone is nil.
type grouped struct {
	master    *Change
	instances map[string]*Change
}

func (s *Service) indexing(x *search.Index) *indexing {
	return &indexing{Service: s, index: x, of: map[string]*grouped{}}
}

func (b *indexing) group(masterID string) *grouped {
	g := b.of[masterID]
	if g == nil {
		g = &grouped{instances: map[string]*Change{}}
		b.of[masterID] = g
	}
	return g
}

// take takes in a thing as it is now.
func (b *indexing) take(c Change) {
	t := b.registry.ByName(c.Type)
	if t == nil || !t.HasCollection() || !isTitled(t) {
		return
	}
	switch t.Name {
	case entity.TypeMaster:
		b.group(c.ID).master = &c
	case entity.TypeInstance:
		masterID, _, err := entity.ParseInstanceID(c.ID)
		if err == nil {
			b.group(masterID).instances[c.ID] = &c
		}
	default:
		if c.Gone {
			b.index.Remove(search.Ref(c.Ref))
			return
		}
		d := b.document(t, c)
		for _, one := range d.Texts {
			b.bytes += len(one.Text)
		}
		b.index.Put(d)
	}
}

// end makes the documents of the series that changed, and of their exceptions.
func (b *indexing) end() {
	if len(b.of) == 0 {
		return
	}
	for d := range b.index.All() {
		g := b.of[d.Parent.ID]
		if d.Parent.Type != entity.TypeMaster || g == nil {
			continue
		}
		if _, ok := g.instances[d.ID]; !ok {
			g.instances[d.ID] = kept(d)
		}
	}
	for masterID, g := range b.of {
		if g.master == nil {
			if d := b.index.Get(search.Ref{Type: entity.TypeMaster, ID: masterID}); d != nil {
				g.master = kept(d)
			}
		}
		b.put(masterID, g)
	}
	clear(b.of)
}

// put makes the documents of one series.
func (b *indexing) put(masterID string, g *grouped) {
	ref := search.Ref{Type: entity.TypeMaster, ID: masterID}
	var compiled *series.Series
	switch {
	case g.master == nil || g.master.Gone:
		b.index.Remove(ref)
	default:
		var rows []item.Item
		for _, c := range g.instances {
			if !c.Gone {
				rows = append(rows, c.Item)
			}
		}
		d := b.document(b.registry.ByName(entity.TypeMaster), *g.master)
		if of, err := series.New(g.master.Item, time.UTC, rows...); err == nil {
			compiled = of
		}
		b.index.Put(d)
	}
	for id, c := range g.instances {
		if c.Gone {
			b.index.Remove(search.Ref(c.Ref))
			continue
		}
		b.index.Put(b.exception(compiled, id, *c))
	}
}

// exception makes the document of an exception: with all that it takes from its series if it has words of its own, else
// a silent one. The series is nil if there is none to be read.
func (b *indexing) exception(of *series.Series, id string, c Change) search.Document {
	masterID, date, _ := entity.ParseInstanceID(id)
	data := string(change.AppendItem(nil, c.Item))
	parent := search.Ref{Type: entity.TypeMaster, ID: masterID}
	if of != nil && hasOwnWords(c.Item) {
		if o, ok := of.On(date); ok && !o.Virtual() {
			shown := c
			shown.Item = of.Item(o)
			d := b.document(b.registry.ByName(entity.TypeInstance), shown)
			if d.Parent, d.Data = parent, data; o.Cancelled() {
				d.Spans = nil
			}
			return d
		}
	}
	return search.Document{
		Ref: search.Ref(c.Ref), Version: c.Version, ExpiresAt: c.ExpiresAt, Parent: parent, Flags: flagSilent, Data: data,
	}
}

// ownWords are the fields by which an exception is found besides its series.
var ownWords = []string{entity.AttrTitle, "description", "location", entity.AttrTags}

func hasOwnWords(row item.Item) bool {
	list, _ := row[product.AttrModifiedFields].(item.List)
	return slices.ContainsFunc(ownWords, func(name string) bool {
		return slices.Contains(list, item.Value(item.String(name)))
	})
}

// document makes the document of an entity as readers see it.
func (b *indexing) document(t *entity.Type, c Change) search.Document {
	it := c.Item
	d := search.Document{
		Ref: search.Ref(c.Ref), Version: c.Version, ExpiresAt: c.ExpiresAt, Status: it.Str(entity.AttrStatus),
		Tags: slices.Sorted(slices.Values(it.Strings(entity.AttrTags))), Texts: textsOf(t, it),
	}
	d.Updated, _ = it.Time(entity.AttrUpdatedAt)
	if it.Bool(product.AttrIsAllDay) {
		d.Flags |= flagAllDay
	}
	if it.Bool(product.AttrIsPinned) {
		d.Flags |= flagPinned
	}
	switch t.Name {
	case product.TypeNote: // it was written at a time, and takes place at none
	case entity.TypeMaster:
		d.Flags |= flagRecurring
		d.Spans = spansOf(product.EventSpan(it))
		d.Data = string(change.AppendItem(nil, it))
	case entity.TypeInstance:
		d.Flags |= flagRecurring
		d.Spans = spansOf(product.EventSpan(it))
	default:
		d.Spans = spansOf(t.ShownIn(it)...)
	}
	if t.Name == product.TypeTask {
		if at, floating, ok := product.TaskDue(it); ok {
			d.Due = &search.Span{Start: at, End: at, Floating: floating}
		}
		if at, ok := it.Time(product.AttrArchiveAt); ok && d.Status == product.StatusCompleted {
			d.Then, d.StatusAt = product.StatusArchived, at
		}
	}
	if t.Name == product.TypeReminder && it.Has(product.AttrRRule) {
		d.Flags |= flagRecurring
		bare := it.Clone()
		delete(bare, "notes")
		d.Data = string(change.AppendItem(nil, bare))
	}
	return d
}

func spansOf(spans ...entity.Span) []search.Span {
	var out []search.Span
	for _, s := range spans {
		out = append(out, search.Span(s))
	}
	return out
}

// textsOf returns the texts of an entity that are searched: its title, then those that its user has written.
func textsOf(t *entity.Type, it item.Item) []search.Text {
	texts := []search.Text{{Field: entity.AttrTitle, Text: it.Str(entity.AttrTitle)}}
	for i := range t.Fields {
		f := &t.Fields[i]
		isText := f.Kind == entity.Text && f.Name != product.AttrRRule || f.Kind == entity.Markdown
		if f.Origin != entity.FromClient || !isText || f.Name == entity.AttrTitle || f.Name == t.IDAttr {
			continue
		}
		if text := it.Str(f.Name); strings.TrimSpace(text) != "" {
			texts = append(texts, search.Text{Field: f.Name, Text: text})
		}
	}
	return texts
}

// kept returns the thing of which a document was made.
func kept(d *search.Document) *Change {
	it, err := change.ParseItem([]byte(d.Data))
	if err != nil {
		it = item.Item{} // never: the snapshot's checksum is right
	}
	return &Change{Ref: entity.Ref(d.Ref), Version: d.Version, ExpiresAt: d.ExpiresAt, Item: it}
}
