package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/register"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
)

// garble delivers an unreadable record among good ones, or calls the notifier with a payload that it did not write.
func (h *history) garble() {
	switch h.luck.IntN(6) {
	case 0, 1:
		h.callGarbage()
		return
	case 2:
		h.refuseEvent()
		return
	}
	r := h.readers[h.luck.IntN(len(h.readers))]
	var batch []*record
	for range 3 {
		if len(h.stream.log) == 0 {
			return
		}
		if rec := h.stream.log[h.luck.IntN(len(h.stream.log))]; r.filter.Match(rec.arrives) {
			batch = append(batch, rec)
		}
	}
	if len(batch) == 0 {
		return
	}
	var raw []json.RawMessage
	var users []string
	for _, rec := range batch {
		raw, users = append(raw, rec.payload()), append(users, rec.user)
	}
	junk := h.junkOf(batch[0])
	raw = append(raw, junk)
	at := h.luck.IntN(len(raw))
	raw[at], raw[len(raw)-1] = raw[len(raw)-1], raw[at]
	again := func() {
		for _, rec := range batch {
			h.oracle.givenUp = append(h.oracle.givenUp, givenUp{
				loop: r.loop, name: describe("%v again, from %s", r.consumers, rec.Sequence), payload: rec.payload(),
				users: []string{rec.user}, record: rec,
			})
		}
	}
	h.happened["unreadable record"]++
	w := h.handleRaw(r.loop, describe("%v with a record that cannot be read", r.consumers), raw, users,
		func(unfinished string) {
			if unfinished != "" {
				again()
			}
		})
	w.junk, w.lost = junk, again
	h.begin(w)
}

// refuseEvent delivers a malformed event: nothing of it is processed.
func (h *history) refuseEvent() {
	loop := h.readers[h.luck.IntN(len(h.readers))].loop
	event := pick(h.luck, "", "{", `{"Records":7}`, `[]`)
	h.happened["event that is none"]++
	w := &worker{kind: delivering, name: describe("event %q", event)}
	var answer []byte
	var err error
	w.finished = func() {
		if err == nil || w.calls > 0 {
			h.violate("I8", "", w.name, "is answered %q after %d calls", answer, w.calls)
		}
	}
	h.run(h.start(w, func(ctx context.Context) { answer, err = loop.Handle(ctx, []byte(event)) }), -1)
}

// unfiltered delivers a record that a filter should have excluded: its consumers find nothing to do, or work that they
// would have done anyway.
func (h *history) unfiltered() {
	if len(h.stream.log) == 0 {
		return
	}
	rec, r := h.stream.log[h.luck.IntN(len(h.stream.log))], h.readers[h.luck.IntN(len(h.readers))]
	if h.isNewRow(rec) || rec.user == "" { // consumers can decode no row of a deployment or an account
		return
	}
	h.happened["record that a filter should keep"]++
	h.begin(h.handleBeside(r, []*record{rec}))
}

// junkOf turns a readable record into an unreadable one.
func (h *history) junkOf(good *record) json.RawMessage {
	switch h.luck.IntN(5) {
	case 3:
		return h.endedTimer(good, entity.TimerKey(good.user, "none", 1))
	case 4:
		return h.endedTimer(good, entity.TimerKey(good.user, "task_"+h.luck.uuid(), 0))
	case 0:
		return json.RawMessage(`{"eventName":"MODIFY"}`)
	case 1:
		return json.RawMessage(`{"eventID":"1","eventName":"INSERT","dynamodb":{"SequenceNumber":"100000000000000000001"}}`)
	}
	return bytes.ReplaceAll(good.payload(), []byte(`{"N":"`), []byte(`{"N":"x`)) // its version, too
}

// endedTimer returns the record of a timer that no task can have, and that TTL removed.
func (h *history) endedTimer(like *record, key item.Key) json.RawMessage {
	h.happened["timer that is no task's"]++
	gone := like.Record
	gone.Sequence = fmt.Sprintf("9%020d", h.happened["timer that is no task's"]) // of its own: it is another record
	gone.Name, gone.Expired, gone.Key, gone.Old, gone.New = change.Remove, true, key, key.Item(), nil
	return change.AppendRecord(nil, gone)
}

// callGarbage calls the notifier with a payload that is not its own: the notifier must refuse it and touch nothing.
func (h *history) callGarbage() {
	all := h.schedules.Entries()
	if len(all) == 0 {
		return
	}
	payload := h.spoil(all[h.luck.IntN(len(all))].Payload)
	var err error
	w := &worker{kind: notifying, name: describe("notify %.60s", payload)}
	w.finished = func() {
		var refused *reminders.PayloadError
		if !errors.As(err, &refused) || refused.Error() == "" || w.calls > 0 {
			h.violate("I10", "", w.name, "a payload that is nobody's is answered %v after %d calls", err, w.calls)
		}
	}
	h.happened["unreadable call"]++
	h.run(h.start(w, func(ctx context.Context) { err = h.system.Notifier.Handle(ctx, payload) }), -1)
}

func (h *history) spoil(payload []byte) []byte {
	var fields map[string]any
	if err := json.Unmarshal(payload, &fields); err != nil {
		h.violate("I4", "", string(payload), "%v", err)
		return nil
	}
	switch name := pick(h.luck, "userId", "itemType", "itemId", "offsetMinutes", "occurrenceUtc",
		"dueUtc"); h.luck.IntN(4) {
	case 0:
		delete(fields, name)
	case 1:
		fields[name] = "no " + name
	case 2:
		fields[name] = []int{-1}
	case 3:
		if h.luck.one(2) {
			return payload[:len(payload)/2]
		}
		fields["more"] = strings.Repeat("x", schedule.MaxPayload)
	}
	out, err := json.Marshal(fields)
	if err != nil {
		h.violate("I4", "", string(payload), "%v", err)
	}
	return out
}

// unpack passes records through one of the forms in which an operator may find them, and one form without records.
func (h *history) unpack(records []json.RawMessage) []json.RawMessage {
	event := string(consume.Event(records))
	payload, err := json.Marshal(event)
	if err != nil {
		h.violate("I8", "", event, "%v", err)
	}
	body := event
	switch h.luck.IntN(3) {
	case 0: // as Lambda leaves them at an on-failure destination
		body = fmt.Sprintf(`{"version":"1.0","DDBStreamBatchInfo":{"batchSize":%d},"payload":%s}`, len(records), payload)
	case 1: // a record a line
		body = string(bytes.Join(asBytes(records), []byte("\n")))
	}
	read, err := consume.Records([]byte(body))
	if err != nil || len(read) != len(records) {
		h.violate("I8", "", body, "holds %d records, and %d are read: %v", len(records), len(read), err)
		return records
	}
	for i := range read {
		if !bytes.Equal(read[i], records[i]) {
			h.violate("I8", "", body, "record %d is read as another: %s", i, read[i])
		}
	}
	if _, err := consume.ReadParked([]byte(pick(h.luck, "{", "{}", `{"consumer":"stats"}`))); err == nil {
		h.violate("I8", "", "parking", "an object that is none is read as one")
	}
	broken := pick(h.luck, "", `{"DDBStreamBatchInfo":{}}`, `{"payload":"{"}`, `{"payload":"{}"}`, `{"a":1}`, `[]`,
		`{"Records"`)
	if read, err := consume.Records([]byte(broken)); err == nil {
		h.violate("I8", "", broken, "holds no record, and %d are read", len(read))
	}
	return read
}

func asBytes(records []json.RawMessage) [][]byte {
	out := make([][]byte, len(records))
	for i, r := range records {
		out[i] = r
	}
	return out
}

// lose prevents a parked or given-up delivery from being repeated. Its effects are missing until a repair.
func (h *history) lose() {
	parked := h.parked()
	total := len(parked) + len(h.oracle.givenUp)
	if total == 0 {
		return
	}
	n := h.luck.IntN(total)
	if n >= len(parked) {
		one := h.oracle.givenUp[n-len(parked)]
		if slices.ContainsFunc(one.users, h.isAway) {
			return // no repair makes up for it
		}
		h.oracle.givenUp = append(h.oracle.givenUp[:n-len(parked):n-len(parked)], h.oracle.givenUp[n-len(parked)+1:]...)
		for _, r := range h.readers {
			if r.loop == one.loop {
				h.forget(one.record, r.consumers)
			}
		}
		return
	}
	if owner, _ := register.OwnerOf(parked[n]); h.isAway(owner) {
		return
	}
	object, consumer := h.readParked(parked[n])
	if err := h.parking.Delete(noContext, parked[n]); err != nil {
		h.violate("I8", "", parked[n], "%v", err)
	}
	for _, raw := range object.records {
		for _, rec := range h.stream.log {
			if bytes.Contains(raw, []byte(`"`+rec.Sequence+`"`)) {
				h.forget(rec, []string{consumer})
			}
		}
	}
}

// forget records that consumers will never receive a record.
func (h *history) forget(rec *record, consumers []string) {
	user := rec.user
	h.happened["record that never comes back"]++
	h.note("%v never see record %s of %s", consumers, rec.Sequence, rec.Key.SK)
	h.hurt(user)
	for _, name := range consumers {
		h.oracle.applied(name, rec.Sequence)
		h.oracle.forgotten[name+rec.Sequence] = true
	}
	if slices.Contains(consumers, changes.Name) {
		h.lacks(rec)
	}
	if rec.Name != change.Insert || rec.New != nil {
		h.oracle.users[user].unsure = true
	}
}
