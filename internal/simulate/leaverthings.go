package simulate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"nexus/pkg/account"
	"nexus/pkg/port"
)

// What the user asks for.
const (
	exportsPath = "/v1/me/exports"
	feedPath    = "/v1/me/feed"
)

// exportCalls bounds the calls of a worker of an export before another one or none goes on.
const exportCalls = 60

// furnish gives the user who leaves what few users have: an address of the calendar, which was read, exports of which
// one is finished and the next one waits, is under way or was left by a worker that died, and rows of the rates.
func (h *history) furnish() {
	l := h.leaver
	if l.address != "" {
		return
	}
	var feed struct{ Path string }
	if !h.have(knock{method: http.MethodPut, path: feedPath, user: l.user}, &feed) {
		return
	}
	l.address = feed.Path
	h.have(knock{method: http.MethodGet, path: l.address}, nil)
	former := h.settling
	h.settling = true // the first is finished
	if w := h.exportOf(l.user); w != nil {
		h.run(w, -1)
	}
	h.settling = former
	if w := h.exportOf(l.user); w != nil {
		h.happened["export at the leave"]++
		if h.run(w, h.luck.IntN(exportCalls)); !w.ended && h.luck.one(2) {
			h.kill(w)
		}
	}
}

// exportOf has the user ask for an export, and returns the work on it; nil if there is none.
func (h *history) exportOf(user string) *worker {
	var job struct{ ExportID string }
	if !h.have(knock{method: http.MethodPost, path: exportsPath, user: user}, &job) {
		return nil
	}
	h.leaver.export = job.ExportID
	w := &worker{kind: commanding, name: "export of " + user}
	var err error
	w.finished = func() {
		h.note("%s: %v", w.name, err)
		if err != nil && !isPassing(err) && !port.IsOutage(err) && !errors.Is(err, account.ErrErased) {
			h.violate("E1", "", w.name, "is answered %v", err)
		}
	}
	return h.start(w, func(ctx context.Context) { err = h.door.Exporter.Work(ctx, user, job.ExportID) }, user)
}

// have sends a request that must be carried out, and reads the answer.
func (h *history) have(k knock, into any) bool {
	out := h.request(noContext, k)
	h.absorb(nil)
	h.note("%s %s: %d", k.method, k.path, out.status)
	if out.status == http.StatusTooManyRequests {
		return false
	}
	if out.status >= http.StatusMultipleChoices {
		h.violate("I10", k.user, k.path, "%s is answered %d: %s", k.method, out.status, out.body.String())
		return false
	}
	if into != nil {
		if err := json.Unmarshal(out.body.Bytes(), into); err != nil {
			h.violate("I10", k.user, k.path, "%v", err)
		}
	}
	return true
}

// readAsLeaver reads the calendar at its address, an export or the settings of the user who leaves. From five minutes
// after the erasure began nothing is served (E1).
func (h *history) readAsLeaver() {
	l := h.leaver
	if l.address == "" {
		return
	}
	k := knock{method: http.MethodGet, path: l.address}
	if n := h.luck.IntN(3); n > 0 {
		export := exportsPath + "/" + cmp.Or(l.export, "none")
		k = knock{method: http.MethodGet, path: pick(h.luck, export, "/v1/me"), user: l.user}
	}
	w := &worker{kind: serving, name: l.user + " reads " + k.path}
	var out *reply
	isGone := !l.begun.IsZero() && h.now.Sub(l.begun) > settled && !l.isBack
	w.finished = func() {
		h.note("%s: %d", w.name, out.status)
		isRight := out.status == http.StatusNotFound
		if k.user != "" {
			isRight = out.is("account-erased")
		}
		isRight = isRight || out.status == http.StatusServiceUnavailable
		if isGone && !isRight {
			h.violate("E1", l.user, k.path, "is answered %d, and the account is %s: %.200s", out.status, l.state,
				out.body.String())
		}
		if isGone && out.status < http.StatusInternalServerError {
			h.happened["read by an erased user"]++
		}
	}
	h.begin(h.start(w, func(ctx context.Context) { out = h.request(ctx, k) }, l.user))
}

// isOfExports reports whether an object belongs to an export: it has what its user had, until it ends.
func isOfExports(object string) bool { return strings.HasPrefix(object, "exports/") }
