package simulate

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/internal/simulate/hooklaws"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/webhook"
)

// hookWatch shows a judge, which knows the document of webhooks alone, what can be seen of a history.
type hookWatch struct {
	h      *history
	judge  *hooklaws.Judge
	master webhook.Master
	sent   int // requests
	named  int // violations
}

func newHookWatch(h *history, master webhook.Master, room int) *hookWatch {
	return &hookWatch{
		h: h, master: master,
		judge: hooklaws.New(hooklaws.Tolerance{Clock: 2 * maxAhead, Stale: h.life(), Room: room}),
	}
}

// see shows one observation, and names what the judge has found by now.
func (w *hookWatch) see(observation any) {
	if w == nil {
		return
	}
	w.judge.See(observation)
	for found := w.judge.Violations(); w.named < len(found); w.named++ {
		v := found[w.named]
		w.h.violate(v.Law, v.User, strings.TrimSpace(v.Endpoint+" "+v.Message), "%s", v.Text)
	}
}

// writes shows what a worker has written; nil for the TTL service and for what comes from outside.
func (w *hookWatch) writes(records []*record, by *worker) {
	if w == nil {
		return
	}
	all := map[hooklaws.Author][]hooklaws.Change{}
	for _, r := range records {
		if w.h.isGone(r.user) {
			w.judge.Leave(r.user)
		}
		switch kind, _, _ := strings.Cut(r.Key.SK, "#"); kind {
		case outbox.TypeWebhook, outbox.RowMessage, outbox.RowOut, outbox.RowLane:
			if kind == outbox.TypeWebhook && r.New != nil {
				w.hand(r.user, r.New)
			}
			w.count(kind, r)
			author := authorOf(r, by)
			all[author] = append(all[author], hooklaws.Change{PK: r.Key.PK, SK: r.Key.SK, Old: plain(r.Old), New: plain(r.New)})
		default:
			if t := w.h.registry.ByName(kind); t != nil && t.HasCollection() {
				w.see(hooklaws.Record{
					Sequence: r.Sequence, Created: r.Created, PK: r.Key.PK, SK: r.Key.SK, Old: plain(r.Old), New: plain(r.New),
					IsExpired: r.Expired,
				})
			}
		}
	}
	for _, author := range slices.Sorted(maps.Keys(all)) {
		write := hooklaws.Write{At: w.h.now, By: author, Changes: all[author]}
		if by != nil {
			write.Worker, write.HookRead, write.OutRead = by.number, by.hookRead, by.outRead
		}
		w.see(write)
	}
}

// count counts what happens to messages, and why endpoints are disabled.
func (w *hookWatch) count(kind string, r *record) {
	state, reason := r.New.Str("state"), r.New.Str(outbox.AttrReason)
	switch {
	case kind == outbox.TypeWebhook && reason != "" && r.Old.Str(outbox.AttrReason) == "":
		w.h.happened["webhook disabled: "+reason]++
	case kind != outbox.RowMessage || r.New == nil:
	case r.Old == nil:
		w.h.happened["message "+r.New.Str("type")]++
		fallthrough
	case state != r.Old.Str("state") && state != "pending":
		w.h.happened["message "+state+" "+reason]++
	}
}

func authorOf(r *record, by *worker) hooklaws.Author {
	switch {
	case by == nil && r.Name == change.Remove && r.Old.Has(entity.AttrTTL):
		return hooklaws.Expiry
	case by == nil || by.kind == erasing || by.kind == repairing:
		return hooklaws.Foreign
	case by.kind == commanding:
		return hooklaws.User
	}
	return hooklaws.Service
}

// hand hands a user's receivers the secrets of an endpoint.
func (w *hookWatch) hand(user string, row item.Item) {
	keys := w.master.KeysOf(user, row)
	w.see(hooklaws.Secrets{
		User: user, Hook: row.Str("webhookId"), Generation: int(row.Int(outbox.AttrGeneration)),
		Symmetric: keys.Secret, Public: keys.PublicKey,
	})
}

// due shows that a reminder was published.
func (w *hookWatch) due(detail []byte) {
	if w == nil {
		return
	}
	var d struct {
		DeliveryID, UserID, ItemID string
		OccurredAt                 time.Time
	}
	if err := json.Unmarshal(detail, &d); err == nil {
		w.see(hooklaws.Due{At: d.OccurredAt, User: d.UserID, DeliveryID: d.DeliveryID, ItemID: d.ItemID})
	}
}

// moment returns the number of what was shown by now.
func (w *hookWatch) moment() int {
	if w == nil {
		return 0
	}
	w.h.absorb(w.h.current)
	return w.judge.Moment()
}

// begun returns the moment at which a call of a consumer begins.
func (w *hookWatch) begun(consumer string) int {
	if consumer != webhook.Name {
		return 0
	}
	return w.moment()
}

// applied shows that a consumer has finished a record. began is the moment at which the call began.
func (w *hookWatch) applied(consumer, sequence string, began int) {
	if consumer == webhook.Name {
		w.handled(sequence, "", began)
	}
}

// handled shows that the consumer has finished a record, or deliver the event of a reminder.
func (w *hookWatch) handled(sequence, delivery string, began int) {
	if w == nil {
		return
	}
	w.h.absorb(w.h.current)
	w.see(hooklaws.Handled{At: w.h.now, Sequence: sequence, DeliveryID: delivery, Began: began})
}

// request shows a request that was sent to an address, or to none, and answer what its sender was answered.
func (w *hookWatch) request(r *http.Request, body []byte, begun time.Time, to netip.Addr) (id int) {
	if w == nil {
		return 0
	}
	w.h.absorb(w.h.current)
	w.sent++
	w.h.note("  request %d to %s: %s", w.sent, r.URL, r.Header.Get("webhook-id"))
	header := map[string][]string{}
	for name, values := range r.Header {
		header[strings.ToLower(name)] = values
	}
	w.see(hooklaws.Request{
		At: w.h.now, Begun: begun, ID: w.sent, Method: r.Method, URL: r.URL.String(), Header: header, Body: body, To: to,
		Worker: w.h.current.number, HookRead: w.h.current.hookRead, OutRead: w.h.current.outRead,
	})
	for user := range w.h.current.users {
		if l := w.h.leaver; w.h.isGone(user) && w.h.now.Sub(l.begun) > settled && !l.isBack {
			w.h.violate("E1", user, r.Header.Get("webhook-id"), "is sent, and the account is %s", l.state)
		}
	}
	return w.sent
}

func (w *hookWatch) answer(id, status int, retryAfter string) {
	if w == nil {
		return
	}
	w.h.note("  request %d was answered %d %s", id, status, retryAfter)
	w.see(hooklaws.Answer{At: w.h.now, ID: id, Status: status, RetryAfter: retryAfter})
}

// quiet shows that all is settled.
func (w *hookWatch) quiet() {
	if w != nil {
		w.see(hooklaws.Quiet{At: w.h.now})
	}
}

// plain returns a row as the judge takes it.
func plain(row item.Item) map[string]any {
	if row == nil {
		return nil
	}
	m := make(map[string]any, len(row))
	for name, v := range row {
		m[name] = plainValue(v)
	}
	return m
}

func plainValue(v item.Value) any {
	switch v := v.(type) {
	case item.String:
		return string(v)
	case item.Bool:
		return bool(v)
	case item.Number:
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil {
			return string(v)
		}
		return n
	case item.StringSet:
		all := make([]any, len(v))
		for i, s := range v {
			all[i] = s
		}
		return all
	case item.List:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = plainValue(one)
		}
		return all
	case item.Map:
		return plain(item.Item(v))
	}
	return nil
}

// areOfHooks reports whether one of the rows is of webhooks.
func areOfHooks(keys []item.Key) bool {
	return slices.ContainsFunc(keys, func(key item.Key) bool {
		kind, _, _ := strings.Cut(key.SK, "#")
		return kind == outbox.TypeWebhook || kind == outbox.RowMessage || kind == outbox.RowOut || kind == outbox.RowLane
	})
}

// read notes that a worker has read an endpoint, or the outbox.
func (w *hookWatch) read(sk string) {
	if w == nil || w.h.current == nil {
		return
	}
	w.h.absorb(w.h.current)
	switch kind, _, _ := strings.Cut(sk, "#"); kind {
	case outbox.TypeWebhook:
		w.h.current.hookRead = w.judge.Moment()
	case outbox.RowOut:
		w.h.current.outRead = w.judge.Moment()
	}
}
