package cost

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"nexus/pkg/product"
)

// create plans the creation of an item, which then is the thing.
func (p *person) create(at time.Time, name, path, idMember string, it *thing, body map[string]any) {
	p.linked(false, at, name, path, idMember, it, body)
}

// linked is create with a link to the task that was created last, if there is one.
func (p *person) linked(isLinked bool, at time.Time, name, path, idMember string, it *thing, body map[string]any) {
	p.plan.put(at, func(ctx context.Context, w *world) error {
		content := maps.Clone(body)
		if isLinked && p.latest.id != "" {
			name += ", linked"
			content["links"] = []map[string]any{{"targetType": product.TypeTask, "targetId": p.latest.id}}
		}
		in := request{activity: Activity{name, Creates}, method: http.MethodPost, path: path, body: content}
		err := p.send(ctx, w, in, idMember, it)
		if idMember == "taskId" {
			p.latest = *it
		}
		return err
	})
}

// patch plans a change of the thing.
func (p *person) patch(at time.Time, name, path, idMember string, group Group, it *thing, body map[string]any) {
	p.command(at, request{
		activity: Activity{name, group}, method: http.MethodPatch, path: path + idHere, body: body,
	}, idMember, it)
}

func (p *person) delete(at time.Time, name, path string, it *thing) {
	p.command(at, request{activity: Activity{name, LifeCycle}, method: http.MethodDelete, path: path + idHere}, "", it)
}

// command plans a command about the thing.
func (p *person) command(at time.Time, in request, idMember string, it *thing) {
	p.plan.put(at, func(ctx context.Context, w *world) error { return p.send(ctx, w, in, idMember, it) })
}

// idHere stands in a path for the id that the thing has when the command is sent.
const idHere = "{id}"

// send sends a command about the thing. A command that is no POST expects the thing's version. The answer to one with
// an id member says what the thing is by now.
func (p *person) send(ctx context.Context, w *world, in request, idMember string, it *thing) error {
	in.function, in.user, in.path = commandFunction, p.id, strings.Replace(in.path, idHere, it.id, 1)
	if in.method != http.MethodPost {
		in.version = it.version
	}
	said, err := w.send(ctx, in, idMember)
	if idMember != "" {
		*it = thing{said.ID, said.Version}
	}
	return err
}

// views are the users' reads, in turn: of forty reads fifteen are of an agenda, twelve of one item.
var views = []struct {
	name string
	path func(p *person, now time.Time) string
	of   int
}{
	{"look at a day's agenda", func(_ *person, now time.Time) string { return agendaPath(now.Truncate(day), day) }, 9},
	{"look at a week's agenda", func(_ *person, now time.Time) string { return agendaPath(now.Truncate(day), 7*day) }, 6},
	{"look at a task", func(p *person, _ time.Time) string { return "/v1/tasks/" + p.latest.id }, 12},
	{"look at a column", func(*person, time.Time) string { return "/v1/tasks?status=" + product.StatusInProgress }, 4},
	{"look at the board", func(*person, time.Time) string { return "/v1/board" }, 2},
	{"look at notes", func(*person, time.Time) string { return "/v1/notes?state=recent" }, 3},
	{"look at oneself", func(*person, time.Time) string { return "/v1/me" }, 2},
	{"look at statistics", func(*person, time.Time) string { return "/v1/me/stats" }, 1},
	{"look at backlinks", func(p *person, _ time.Time) string { return "/v1/tasks/" + p.latest.id + "/backlinks" }, 1},
}

const viewsInTurn = 40

// strides steps through a turn in another order than that of the list: it has no divisor in common with viewsInTurn.
const strides = 17

func agendaPath(from time.Time, length time.Duration) string {
	return "/v1/agenda?" + url.Values{"from": {stamp(from)}, "to": {stamp(from.Add(length))}}.Encode()
}

// sendRead sends one of the read requests.
func (p *person) sendRead(ctx context.Context, w *world, n int) error {
	place := n * strides % viewsInTurn
	for _, view := range views {
		if place -= view.of; place >= 0 {
			continue
		}
		if p.latest.id == "" {
			view = views[0] // nothing to read yet
		}
		_, err := w.send(ctx, request{
			activity: Activity{view.name, Reads}, function: queryFunction, user: p.id, method: http.MethodGet,
			path: view.path(p, w.now),
		}, "")
		return err
	}
	return nil
}
