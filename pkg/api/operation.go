package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"nexus/pkg/archive"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
)

// operation is one row of the table from which routes, document and batch commands are made.
type operation struct {
	id      string // in camelCase; part of the contract
	method  string
	path    string // a pattern of http.ServeMux
	tag     string // the group in the document
	summary string
	detail  string
	// open operations need no user, and everywhere ones are served by every part.
	open, everywhere bool
	// writes says that the operation changes something: it belongs to the command side and takes an idempotency key.
	writes       bool
	precondition precondition
	query        []entity.Field
	// paths are the JSON Schemas of path values that their names alone do not give.
	paths   map[string]object
	body    *body
	answers []documented // the successful ones; refusals follow from the rest
	// finds says that the operation answers 404 for what is not there.
	finds bool
	// leaves says that what the operation is about may have been there and left, which is 410.
	leaves bool
	// conflicts says in which state the operation is refused with 409; empty for never.
	conflicts string
	// run carries the operation out; nil for the few that the surface answers by itself.
	run func(ctx context.Context, s services, c call) (answer, error)
	// alone says that no batch carries the operation.
	alone bool
}

// precondition says what an operation makes of If-Match.
type precondition int

const (
	withoutVersion precondition = iota
	mayHaveVersion
	needsVersion
	// mayNeedVersion says that it depends on the body whether a version is needed or has no meaning.
	mayNeedVersion
)

// body is what an operation takes.
type body struct {
	schema   any // JSON Schema for the document
	form     *entity.Type
	required bool
	patch    bool
	limit    int64 // in bytes; 0 for maxBody
	example  any
	creates  *entity.Type // gives the example, if there is none
	media    string       // the type of a text that is no JSON; "" for JSON
}

// sample is what the document shows of a body. A create's is found by validating, so only who asks for the document
// waits for it.
func (b *body) sample() any {
	if b.creates != nil {
		return exampleOf(b.creates)
	}
	return b.example
}

// documented is a successful answer as the document has it.
type documented struct {
	status int
	doc    string
	schema any // JSON Schema; nil for no body
	entity bool
	traced bool   // it may name a write without being what was written
	media  string // the type of a text that is no JSON; "" for JSON
}

// services are what operations are carried out with.
type services struct {
	registry *entity.Registry
	commands *command.Service
	queries  Queries
	archive  *archive.Archive
	calendar *calendar.Service
	importer *calendar.Importer
	values   *values.Service
	plans    *plan.Service
}

// call is one request as an operation gets it, whether it came by itself or in a batch.
type call struct {
	user       string
	path       map[string]string
	query      item.Item
	doc        map[string]any // the body; nil if there is none
	form       item.Item      // the body, where the operation has a form for it
	text       []byte         // the body, where it is no JSON
	expected   *int64
	anyVersion bool   // If-Match: *
	key        string // of idempotency; "" for none
}

// answer is what an operation answers.
type answer struct {
	status int
	// typ and item are the entity, if the answer is one.
	typ      *entity.Type
	item     item.Item
	body     []byte // JSON, if the answer is no entity
	tagged   []byte // what the entity tag of such an answer is a digest of; nil for the body
	version  int64  // of the entity that such an answer is about; 0 for none
	revID    string // of the revision that such an answer is, whole; "" for none
	brief    []byte // what a batch tells of such an answer in place of its body; nil for the body
	location string
	replayed bool
	calendar *calendar.Export // the answer, if it is one
	// traces name the writes that the answer is about ([entity.TraceID]); none of what was only read.
	traces []string
}

// json returns the answer's body; nil for none. The user's row has every statistic, also those that nothing was counted
// of yet.
func (a answer) json() []byte {
	switch {
	case a.item == nil:
		return a.body
	case a.typ.Name == entity.TypeUserMeta:
		return a.typ.AppendJSON(nil, product.WithAllStats(a.item))
	}
	return a.typ.AppendJSON(nil, a.item)
}

// operations is the table, in the order of the document.
func operations(r *entity.Registry) []*operation {
	var table []*operation
	for _, t := range r.Types() {
		if !t.HasCollection() {
			continue
		}
		if !t.OwnCommands {
			table = append(table, entityOperations(t)...)
		}
		switch t.Name {
		case entity.TypeInstance, product.TypeTask, product.TypeNote: // they have no list, or one of their own
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
	for _, o := range table { // all that names an entity by its id so far is about that entity
		o.leaves = len(o.pathNames()) > 0
	}
	table = append(table, agendaOperation(r))
	table = append(table, calendarOperations()...)
	table = append(table, meOperations(r)...)
	table = append(table, archiveOperations()...)
	table = append(table, valuesOperations()...)
	table = append(table, planOperations()...)
	return append(table, batchOperation(), documentOperation(), healthOperation())
}

// isCommand says that a batch may carry the operation.
func (o *operation) isCommand() bool { return o.writes && o.id != batchID && !o.alone }

// commandType is the operation's name in a batch: its id in PascalCase.
func (o *operation) commandType() string { return strings.ToUpper(o.id[:1]) + o.id[1:] }

// pathNames are the names of the path's values in their order.
func (o *operation) pathNames() []string {
	var names []string
	for segment := range strings.SplitSeq(o.path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// reads says that GET and HEAD carry the operation out.
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

// operationNoun is a type's name as part of operation ids.
func operationNoun(t *entity.Type) string {
	if t.Name == entity.TypeMaster {
		return "Series"
	}
	return entityNoun(t)
}

// entityNoun is a type's name as part of schema names: SHOPPING_LIST gives ShoppingList.
func entityNoun(t *entity.Type) string {
	var b strings.Builder
	for word := range strings.SplitSeq(t.Name, "_") {
		if word != "" {
			b.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
	}
	return b.String()
}

// collections are the types that have one.
func collections(r *entity.Registry) []*entity.Type {
	return slices.DeleteFunc(slices.Clone(r.Types()), func(t *entity.Type) bool { return !t.HasCollection() })
}
