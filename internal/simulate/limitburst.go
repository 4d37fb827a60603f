package simulate

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/limit"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
)

// maxBurst bounds the requests of a burst, and maxWaits how often its user waits as told.
const (
	maxBurst = 80
	maxWaits = 2
)

// settledReply sends a request in which nothing fails. A user who is refused waits as told, and is not refused again.
func (h *history) settledReply(k knock) *reply {
	out := h.knockOnce(k)
	if out.status == http.StatusTooManyRequests {
		if _, _, full := out.rate(); h.waitAsTold(out) < full { // of a bucket that owes
			h.now = h.now.Add(keptAnswer)
		}
		out = h.knockOnce(k)
	}
	if out.status == http.StatusTooManyRequests {
		h.violate("I15", k.user, k.path, "is refused again, to one who waited as told: %s", out.body.String())
	}
	return out
}

// knockOnce sends a request in which nothing fails, while all other work stands still.
func (h *history) knockOnce(k knock) (out *reply) {
	former := h.settling
	h.settling = true
	defer func() { h.settling = former }()
	h.run(h.start(&worker{kind: commanding, name: "a client of " + k.user + k.owner}, func(ctx context.Context) {
		out = h.request(ctx, k)
	}, k.user+k.owner), -1)
	return out
}

func jsonInto(out *reply, into any) error { return json.Unmarshal(out.body.Bytes(), into) }

// waitAsTold lets the time of Retry-After pass, and returns its seconds.
func (h *history) waitAsTold(out *reply) int {
	seconds, _ := strconv.Atoi(out.header.Get("Retry-After"))
	h.now = h.now.Add(time.Duration(seconds) * time.Second)
	h.note("time passes: a client waits %d s, as told", seconds)
	return seconds
}

// burst sends a request again and again, for which the bucket is asked with the points each time. In any window of time
// no more passes than fits into the full bucket with what came back in it, and a user who waited as told is not
// refused (I15).
func (h *history) burst(k knock, user, policy string, points int) {
	former := h.settling
	h.settling = true
	h.endAll()
	h.settling = former
	h.absorb(nil)
	number, window := h.limits.numbers[policy], time.Minute
	if policy == limit.Feed {
		window = time.Hour
	}
	h.happened["burst of "+policy]++
	var passed []time.Time
	waits, mayPass := 0, false
	for n := 0; n < maxBurst && waits <= maxWaits && h.violation == nil; n++ {
		out := h.knockOnce(k)
		switch {
		case out.status == http.StatusTooManyRequests && mayPass:
			h.violate("I15", user, policy, "is refused to one who waited as told: %s %v", out.body.String(), out.header)
		case out.status == http.StatusTooManyRequests:
			h.happened["refused by the rate "+policy]++
			_, _, full := out.rate()
			mayPass = h.waitAsTold(out) >= full
			if policy == limit.Feed { // a point comes back in w/q seconds
				h.now, mayPass = h.now.Add(window/time.Duration(number)), true
			}
			waits++
		case out.status == http.StatusNotFound: // the address is another one by now
			delete(h.limits.addresses, user)
			return
		case out.status == http.StatusForbidden:
			h.refused(user, out.is("account-erased"))
			return
		case out.status >= http.StatusMultipleChoices:
			h.violate("I15", user, policy, "is answered %d", out.status)
			return
		default:
			passed, mayPass = append(passed, h.now), false
			h.checkWindows(user, policy, passed, points, number, window)
		}
	}
}

// checkWindows checks each window that ends with the last use: the points in it are at most those of a full bucket and
// those that came back in it.
func (h *history) checkWindows(user, policy string, passed []time.Time, points, number int, window time.Duration) {
	last := len(passed) - 1
	for i, from := range passed {
		back := int(int64(number) * int64(passed[last].Sub(from)) / int64(window))
		if sum := (last - i + 1) * points; sum > number+back {
			h.violate("I15", user, policy, "%d points passed in %s, of a bucket of %d", sum, passed[last].Sub(from), number)
		}
	}
}

// burstOfFeed reads the user's calendar at its secret address until it is refused.
func (h *history) burstOfFeed(user string) {
	l := h.limits
	if l.addresses[user] == "" {
		var feed struct{ Path string }
		out := h.knockOnce(knock{method: http.MethodPut, path: feedPath, user: user})
		if out.status != http.StatusOK || jsonInto(out, &feed) != nil {
			return // it is the turn of another limit
		}
		l.addresses[user] = feed.Path
	}
	h.burst(knock{method: http.MethodGet, path: l.addresses[user], owner: user}, user, limit.Feed, 1)
}

// commitOverHTTP makes a revision of a user's values or of a day's plan over HTTP, where quotas hold. It takes place at
// once. The number of revisions is exact: a revision is made if there is room, and refused if there is none.
func (h *history) commitOverHTTP(s *userState) {
	nodes, driver := make([]*knownNode, len(s.nodes)), s.driver
	for i, n := range s.nodes {
		kept := *n
		nodes[i] = &kept
	}
	at := repository.Address{User: s.user}
	quota, path := limit.TreeRevisions, "/v1/values/revisions"
	body := map[string]any{"message": "m", "source": values.SourceDailyUpdate}
	if h.luck.one(2) || len(s.nodes) == 0 {
		body["operations"] = operationsOf(h.someEdits(s))
	} else {
		at.Date = h.someDay(s)
		quota, path = limit.PlanRevisions, "/v1/plans/"+at.Date+"/revisions"
		todos := []any{}
		for _, one := range s.somePlan(h).Todos {
			todos = append(todos, map[string]any{"actionId": one.ActionID, "classification": one.Classification})
		}
		body = map[string]any{"reason": plan.ReasonMorningPlan, "todos": todos, "blocks": []any{}}
	}
	r := s.repositoryOf(at)
	if r.head != "" {
		body["parentRevId"] = r.head
	}
	used, number := len(r.log), h.limits.numbers[quota]
	k := knock{method: http.MethodPost, path: path, user: s.user, body: textOf(body)}
	w := &worker{kind: commanding, name: s.user + " commits", knocks: true}
	former := h.settling
	h.settling = true
	h.run(h.start(w, func(ctx context.Context) { w.reply = h.request(ctx, k) }, s.user), -1)
	h.settling = former
	out := w.reply
	h.note("%s commits over HTTP: %d %s", s.user, out.status, out.problem.Type)
	h.checkKnock(w, k, nil)
	isMade := out.status < http.StatusMultipleChoices
	if !isMade {
		s.nodes, s.driver = nodes, driver
	}
	switch {
	case isMade && used < number:
		h.happened["head committed"]++
	case out.is("history-full") && used >= number && out.problem.Used == used && out.problem.Limit == number &&
		out.problem.Quota == quota:
		h.happened["refused by the quota "+quota]++
	case out.status == http.StatusForbidden: // of an account that has just come back
		h.refused(s.user, out.is("account-erased"))
	case out.status == http.StatusTooManyRequests, out.is("quota-reached") && quota == limit.PlanRevisions && used == 0:
	default:
		h.violate("I15", s.user, quota, "is %d of %d, and a commit is answered %d: %s", used, number, out.status,
			out.body.String())
	}
}

// operationsOf returns operations on a tree as a client writes them.
func operationsOf(ops []values.Operation) (out []any) {
	for _, op := range ops {
		one := map[string]any{"op": op.Kind, "nodeId": op.NodeID}
		if op.Kind == values.OpCreate {
			one["nodeType"], one["title"], one["notes"] = op.NodeType, *op.Title, *op.Notes
			if op.ParentID != "" {
				one["parentId"] = op.ParentID
			}
		}
		out = append(out, one)
	}
	return out
}
