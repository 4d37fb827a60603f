package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"nexus/pkg/calendar"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/product"
)

// operation is one row of the table that defines routes, document and batch commands.
type operation struct {
	id      string // in camelCase; part of the contract
	method  string
	path    string // a pattern of http.ServeMux
	tag     string // the group in the document
	summary string
	detail  string
	// open operations need no user, and every part serves everywhere ones.
	open, everywhere bool
	// maxAge is how long clients and caches may keep the answer of an open operation; 0 if they have to ask each time.
	maxAge time.Duration
	// writes says that the operation changes something: it belongs to the command side and accepts an idempotency key.
	writes       bool
	precondition precondition
	query        []entity.Field
	// paths are the JSON Schemas of path values whose names alone do not define them.
	paths   map[string]object
	body    *body
	answers []documented // the successful ones; refusals follow from the rest
	// finds says that the operation answers 404 for a missing entity.
	finds bool
	// leaves says that the operation's entity may have existed and left, which is 410.
	leaves bool
	// resets says that the operation may answer that the client needs a new snapshot, which is 410.
	resets bool
	// mayBePruned says that what the operation reads may have been pruned, which is 410.
	mayBePruned bool
	// pays says that a request pays for its content, before its first write.
	pays bool
	// fills judges the quotas of which the operation uses something; nil for none.
	fills func(ctx context.Context, s *Config, c call) error
	// conflicts names the state in which the operation is refused with 409; empty for never.
	conflicts string
	// run carries the operation out; nil for the few that the surface answers by itself.
	run func(ctx context.Context, s *Config, c call) (answer, error)
	// whileLeaving says that the operation is allowed for an account that is to be erased.
	whileLeaving bool
	// asksSignIn says that the operation asks when the user signed in.
	asksSignIn bool
	// forgets says that a repetition under an idempotency key counts like any other request.
	forgets bool
	// lags says that a cache may answer with what was before the operation for [FeedCached].
	lags bool
	// alone says that no batch carries the operation.
	alone bool
}

// precondition says how an operation uses If-Match.
type precondition int

const (
	withoutVersion precondition = iota
	mayHaveVersion
	needsVersion
	// mayNeedVersion says that the body decides whether a version is required or meaningless.
	mayNeedVersion
)

// body describes the body of an operation.
type body struct {
	schema   any // JSON Schema for the document
	form     *entity.Type
	required bool
	patch    bool
	limit    int64 // in bytes; 0 for maxBody
	example  any
	creates  *entity.Type // source of the example, if there is none
	media    string       // the type of a text that is no JSON; "" for JSON
}

// sample returns the body's example in the document. Validation finds that of a create, so only a request for the
// document computes it.
func (b *body) sample() any {
	if b.creates != nil {
		return exampleOf(b.creates)
	}
	return b.example
}

// documented is a successful answer in the document.
type documented struct {
	status  int
	doc     string
	schema  any // JSON Schema; nil for no body
	entity  bool
	located bool   // it names a path, as each 201 does
	traced  bool   // it may name a write without being the written entity
	media   string // the type of a text that is no JSON; "" for JSON
}

// call is one request to an operation, single or in a batch.
type call struct {
	user       string
	path       map[string]string
	query      item.Item
	doc        map[string]any // the body; nil if absent
	form       item.Item      // the body, if the operation has a form for it
	text       []byte         // the body, if it is no JSON
	expected   *int64
	anyVersion bool          // If-Match: *
	key        string        // of idempotency; "" for none
	retention  time.Duration // of the key; 0 for the usual one
	after      string        // the id of an earlier command of the batch, whose version stands for expected; "" for none
	ofSeries   bool          // expected is the version of the occurrence's series
	eraseAt    time.Time     // of an account that leaves; else zero
	signedInAt time.Time     // if the operation asks; zero if the token does not say
	limited    bool          // it came over HTTP, where limits hold
	spending   *spending     // of its request; nil for a direct invocation
}

// answer is the result of an operation.
type answer struct {
	status int
	// typ and item are the entity, if the answer is one.
	typ      *entity.Type
	item     item.Item
	more     []byte // members of the entity's JSON that no field of it has, each after a comma
	body     []byte // JSON, if the answer is no entity
	tagged   []byte // the input of such an answer's entity tag; nil for the body
	tag      string // such an answer's entity tag itself; "" for a digest
	version  int64  // the version of the entity that such an answer concerns; 0 for none
	made     int64  // the version that a command made of the entity that it names; 0 for none
	revID    string // the revision that such an answer contains whole; "" for none
	brief    []byte // replaces the body of such an answer in a batch; nil for the body
	location string
	replayed bool
	calendar *calendar.Export // the answer, if it is one
	rate     *limit.State     // of the rate that the answer used, if it is not the user's
	// traces names the writes that the answer concerns ([entity.TraceID]); none for a read.
	traces []string
}

// json returns the answer's body; nil for none. The user's row has every statistic, including those without a count.
func (a answer) json() []byte {
	switch {
	case a.item == nil:
		return a.body
	case a.typ.Name == entity.TypeUserMeta:
		out := a.typ.AppendJSON(nil, product.WithAllStats(a.item))
		return append(append(out[:len(out)-1], a.more...), '}')
	}
	out := a.typ.AppendJSON(nil, a.item)
	return append(append(out[:len(out)-1], a.more...), '}')
}

// operations returns the table, in the order of the document.
func operations(r *entity.Registry) []*operation {
	var table []*operation
	for _, t := range r.Types() {
		if !t.HasCollection() {
			continue
		}
		switch {
		case t.Name == outbox.TypeWebhook:
			table = append(table, webhookOperations(t)...)
		case !t.OwnCommands:
			table = append(table, entityOperations(t)...)
		}
		switch t.Name {
		case entity.TypeInstance, product.TypeTask, product.TypeNote: // they have no list, or a special one
		default:
			table = append(table, allOperation(t))
		}
		switch t.Name {
		case entity.TypeMaster:
			table = append(table, seriesOperations(t)...)
		case entity.TypeInstance:
			table = append(table, instanceOperations(t)...)
			continue // its links are fields of the occurrence like the others
		case product.TypeTask:
			table = append(table, columnOperation(t), boardOperation(t))
		case product.TypeReminder:
			table = append(table, reminderOperations(t)...)
		case product.TypeNote:
			table = append(table, notesOperation(t))
		}
		table = append(table, linkOperations(t)...)
		if t.Name == product.TypeEvent && r.ByName(entity.TypeMaster) != nil {
			aboutSeries(t, table)
		}
	}
	for _, o := range table { // all operations so far that name an entity by its id concern that entity
		o.leaves = len(o.pathNames()) > 0
	}
	table = append(table, agendaOperation(r))
	table = append(table, searchOperations(r)...)
	table = append(table, changesOperations(r)...)
	table = append(table, calendarOperations()...)
	table = append(table, slices.Concat(meOperations(r), accountOperations(), exportOperations(r), deviceOperations())...)
	table = append(table, archiveOperations()...)
	table = append(table, valuesOperations()...)
	table = append(append(table, planDaysOperation()), planOperations()...)
	return append(table, batchOperation(), documentOperation(), healthOperation(), addressesOperation())
}

// isCommand reports whether a batch may carry the operation.
func (o *operation) isCommand() bool { return o.writes && o.id != batchID && !o.alone }

// commandType returns the operation's name in a batch: its id in PascalCase.
func (o *operation) commandType() string { return strings.ToUpper(o.id[:1]) + o.id[1:] }

// pathNames returns the names of the path's values in their order.
func (o *operation) pathNames() []string {
	var names []string
	for segment := range strings.SplitSeq(o.path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// names returns the id of the entity that a command of a batch is about, and so of the version that it makes; "" for
// none. An event that becomes a series is another entity than the series.
func (o *operation) names(c call) string {
	path := o.pathNames()
	switch {
	case o.isAboutOccurrence():
		return entity.InstanceID(c.path[product.AttrMasterID], c.path[memberDate])
	case len(path) > 0:
		return c.path[path[0]]
	case o.body != nil && o.body.creates != nil:
		id, _ := c.doc[o.body.creates.IDAttr].(string)
		return id
	}
	return o.id
}

// isAboutOccurrence reports whether the operation is about one occurrence of a series.
func (o *operation) isAboutOccurrence() bool {
	return slices.Equal(o.pathNames(), []string{product.AttrMasterID, memberDate})
}

// asks returns the id of the entity whose version a command of a batch expects; "" if it expects none.
func (o *operation) asks(c call) string {
	switch o.precondition {
	case withoutVersion:
		return ""
	case mayNeedVersion:
		id, _ := c.doc[memberFromEvent].(string)
		return id
	}
	return o.names(c)
}

// reads reports whether GET and HEAD carry the operation out.
func (o *operation) reads() bool { return o.method == http.MethodGet }

// check reads the body by the operation's form, if it has one.
func (o *operation) check(c *call) *Problem {
	if o.body == nil {
		return nil
	}
	if o.body.form == nil {
		if c.doc == nil {
			c.doc = map[string]any{}
		}
		return nil
	}
	it, broken := readForm(o.body.form, c.doc)
	if len(broken) > 0 {
		return refuseFields(broken...)
	}
	c.form = it
	return nil
}

// operationNoun returns a type's name as part of operation ids.
func operationNoun(t *entity.Type) string {
	if t.Name == entity.TypeMaster {
		return "Series"
	}
	return entityNoun(t)
}

// entityNoun returns a type's name as part of schema names: SHOPPING_LIST gives ShoppingList.
func entityNoun(t *entity.Type) string {
	var b strings.Builder
	for word := range strings.SplitSeq(t.Name, "_") {
		if word != "" {
			b.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
	}
	return b.String()
}

// collections returns the types that have one.
func collections(r *entity.Registry) []*entity.Type {
	return slices.DeleteFunc(slices.Clone(r.Types()), func(t *entity.Type) bool { return !t.HasCollection() })
}
