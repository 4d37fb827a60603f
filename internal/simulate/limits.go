package simulate

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"

	"github.com/go-json-experiment/json"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/limit"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// limits are those of a history that plays them: so low that they are reached.
type limits struct {
	numbers limit.Numbers
	luck    *rand.Rand
	always  bool // each request asks the row of its rate, and each create asks for its quotas
	// known has the numbers by which quotas were judged, by user, the latest last; zones are the changes of the zone.
	known     map[string][]usage
	zones     map[string][]zoneChange
	addresses map[string]string // of calendars, by user
}

const (
	// limitedOneIn histories play limits.
	limitedOneIn = 5
	// limitedSalt is chosen so that none of the histories that are kept for ever plays limits: they are older.
	limitedSalt = 0x6c696d6974732a
)

// isLimited reports whether limits are played in the history of a seed. The release before knows none.
func isLimited(seed uint64) bool {
	return newFormer == nil && rand.NewPCG(seed, limitedSalt).Uint64()%limitedOneIn == 0
}

// openLimits draws the numbers. A crowd has more than any of them.
func (h *history) openLimits() {
	if !isLimited(h.spec.Seed) || h.luck.crowd > 0 {
		return
	}
	luck := rand.New(rand.NewPCG(h.spec.Seed, limitedSalt+1))
	l := &limits{
		numbers: limit.Default(), luck: luck, always: luck.IntN(3) > 0, known: map[string][]usage{},
		zones: map[string][]zoneChange{}, addresses: map[string]string{},
	}
	for _, of := range []struct {
		name        string
		least, most int
	}{
		{limit.Content, 2, 8}, {limit.Notes, 1, 3}, {limit.Exceptions, 1, 2}, {limit.Gone, 1, 3}, {limit.Series, 1, 3},
		{limit.Plans, 1, 3}, {limit.TreeRevisions, 2, 6}, {limit.PlanRevisions, 1, 3}, {limit.Schedules, 2, 6},
		{limit.Feed, 2, 4},
	} {
		l.numbers[of.name] = of.least + luck.IntN(of.most-of.least+1)
	}
	if l.numbers[limit.User] = 40; l.always { // each request counts ten
		l.numbers[limit.User] = 100 + 100*luck.IntN(3)
	}
	h.limits = l
}

// limitNumbers are those of the system; nil where no limits are played.
func (h *history) limitNumbers() limit.Numbers {
	if h.limits == nil {
		return nil
	}
	return h.limits.numbers
}

// draw is the random number of the instance that serves the door.
func (l *limits) draw() float64 {
	if l.always {
		return 0
	}
	return l.luck.Float64()
}

// errLimited is a refusal by a limit.
var errLimited = errors.New("a limit is reached")

// overHTTP returns a request as a client sends it, if it is one of those that are played so.
func (h *history) overHTTP(r command.Request) (knock, bool) {
	k := knock{user: r.User, key: r.IdempotencyKey, version: r.ExpectedVersion}
	if h.limits == nil || r.ExpectedVersion != nil && *r.ExpectedVersion < 0 {
		return k, false
	}
	var body map[string]any
	switch cmd := r.Command.(type) {
	case command.Create:
		k.method, k.path, body = http.MethodPost, "/v1/"+cmd.Type.Plural, cmd.Fields
		if cmd.ID != "" {
			body = maps.Clone(body)
			body[cmd.Type.IDAttr] = cmd.ID
		}
	case command.CreateSeries:
		k.method, k.path, body = http.MethodPost, "/v1/series", cmd.Fields
	case command.Update:
		k.method, k.path, body = http.MethodPatch, "/v1/"+cmd.Type.Plural+"/"+cmd.ID, cmd.Patch
	case command.UpdateSeries:
		k.method, k.path, body = http.MethodPatch, "/v1/series/"+cmd.ID, cmd.Patch
	case command.UpdateMe:
		k.method, k.path, body = http.MethodPatch, "/v1/me", cmd.Patch
	case command.PutInstance:
		k.method, k.path, body = http.MethodPut, "/v1/series/"+cmd.MasterID+"/instances/"+cmd.Date, cmd.Fields
	case command.CancelInstance:
		k.method, k.path = http.MethodDelete, "/v1/series/"+cmd.MasterID+"/instances/"+cmd.Date
	case command.Delete:
		k.method, k.path = http.MethodDelete, "/v1/"+cmd.Type.Plural+"/"+cmd.ID
	case command.DeleteSeries:
		k.method, k.path = http.MethodDelete, "/v1/series/"+cmd.ID
	default:
		return k, false
	}
	if body != nil {
		k.body = textOf(body)
	}
	return k, true
}

func textOf(body any) string {
	text, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		panic("simulate: " + err.Error()) // texts and numbers
	}
	return string(text)
}

// knocking carries a request out over HTTP, and returns the answer as a direct invocation has it.
func (h *history) knocking(w *worker, k knock, of command.Command) func(ctx context.Context) (command.Result, error) {
	w.knocks = true
	return func(ctx context.Context) (command.Result, error) {
		w.reply = h.request(ctx, k)
		h.absorb(w)
		h.note("  %s %s: %d", k.method, k.path, w.reply.status)
		h.checkKnock(w, k, of)
		_, isDeletion := of.(command.DeleteSeries)
		return command.Result{Deleted: isDeletion}, w.reply.err(h, k.user)
	}
}

// err returns the error that the answer stands for.
func (r *reply) err(h *history, user string) error {
	switch {
	case r.status < http.StatusMultipleChoices:
		return nil
	case r.status == http.StatusServiceUnavailable:
		return table.ErrUnavailable
	case r.status == http.StatusTooManyRequests, r.is("quota-reached"):
		return errLimited
	case r.status == http.StatusForbidden:
		h.refused(user, r.is("account-erased"))
		return &awayError{}
	case r.status == http.StatusNotFound, r.status == http.StatusGone:
		return &command.NotFoundError{}
	case r.status == http.StatusPreconditionFailed:
		return &command.StaleError{}
	case r.status == http.StatusConflict:
		return &command.StateError{}
	case r.status == http.StatusUnprocessableEntity:
		return &entity.ValidationError{}
	}
	return errors.New(r.body.String())
}

// useLimits has a user reach limits, and free what they bound: several creates at once, deletions, many reads, commits.
// Or an operator counts.
func (h *history) useLimits() {
	l := h.limits
	if l == nil || h.violation != nil {
		return
	}
	user := h.users[h.luck.IntN(len(h.users))]
	if h.isAway(user) {
		return
	}
	a := author{history: h, userState: h.oracle.users[user]}
	switch n := h.luck.IntN(24); {
	case n < 1 && l.always:
		h.burst(knock{method: http.MethodGet, path: "/v1/me", user: user}, user, limit.User, 10)
	case n < 2 && l.always:
		h.burstOfFeed(user)
	case n < 4:
		h.begin(h.repair(user))
	case n < 7:
		h.commitHead(a.userState)
	case n < 9 && len(a.items) > 0:
		for range 2 + h.luck.IntN(3) {
			h.asked++
			cmd, expected, name := a.create(h.registry.ByName(pick(h.luck, product.TypeNote, product.TypeNote, product.TypeTask,
				product.TypeReminder, entity.TypeMaster)))
			cmd = titled(cmd, describe("c%d.%d", h.step, h.asked))
			h.begin(h.send(&request{name: name, Request: command.Request{User: user, Command: cmd, ExpectedVersion: expected}}))
		}
	case n < 12:
		a.deleteOne()
	case n < 16:
		a.exceptOne()
	}
}

// deleteOne deletes an item, or a series with its exceptions.
func (a author) deleteOne() {
	typ := a.registry.ByName(pick(a.luck, product.TypeNote, product.TypeTask, product.TypeEvent, product.TypeReminder,
		entity.TypeMaster))
	id, it := a.choose(typ.Name)
	if it == nil {
		return
	}
	version := it.Int(entity.AttrVersion)
	r := command.Request{User: a.userState.user, Command: command.Delete{Type: typ, ID: id}, ExpectedVersion: &version}
	if typ.Name == entity.TypeMaster {
		r.Command = command.DeleteSeries{ID: id}
	}
	a.begin(a.send(&request{name: "delete " + id, Request: r}))
}

// exceptOne gives an occurrence of a series a title of its own.
func (a author) exceptOne() {
	id, master := a.choose(entity.TypeMaster)
	if master == nil {
		return
	}
	date := a.date(master)
	row := a.items[entity.InstanceID(id, date)]
	version := master.Int(entity.AttrVersion) + row.Int(entity.AttrVersion)
	if row.Has(product.AttrModifiedFields) {
		version = row.Int(entity.AttrVersion)
	}
	a.begin(a.send(&request{name: "except " + id + " " + date, Request: command.Request{
		User: a.userState.user, ExpectedVersion: &version,
		Command: command.PutInstance{MasterID: id, Date: date, Fields: document(describe(`{"title":"l%d"}`, a.step))},
	}}))
}

// titled gives a create a title of its own.
func titled(cmd command.Command, title string) command.Command {
	switch one := cmd.(type) {
	case command.Create:
		one.Fields[entity.AttrTitle] = title
	case command.CreateSeries:
		one.Fields[entity.AttrTitle] = title
	}
	return cmd
}
