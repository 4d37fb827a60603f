package simulate

import (
	"encoding/json"
	"slices"

	"nexus/pkg/consume"
	"nexus/pkg/register"
)

// maxTogether bounds how many given-up records are redriven at once.
const maxTogether = 8

// redrive redrives a given-up delivery.
func (h *history) redrive() {
	if h.luck.misfortune(h) && h.luck.one(6) {
		h.lose()
		return
	}
	if w := h.takeLeft(); w != nil {
		h.begin(w)
	}
}

// leftover counts the parked and given-up deliveries.
func (h *history) leftover() int { return len(h.parked()) + len(h.oracle.givenUp) }

func (h *history) parked() []string {
	names, err := h.parking.List(noContext, "", 1000, "")
	if err != nil {
		h.violate("I8", "", "parking", "%v", err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return h.junk[name] })
}

// takeLeft begins a redelivery of parked or given-up records; nil if there are none. A redelivery takes one record, or
// several at once, in any order.
func (h *history) takeLeft() *worker {
	parked := h.parked()
	total := len(parked) + len(h.oracle.givenUp)
	if total == 0 {
		return nil
	}
	n := h.luck.IntN(total)
	if n < len(parked) {
		return h.takeParked(parked, n)
	}
	return h.takeGivenUp(n - len(parked))
}

// takeGivenUp redrives the n-th given-up record, and possibly others of the same reader.
func (h *history) takeGivenUp(n int) *worker {
	taken := []givenUp{h.oracle.givenUp[n]}
	others := slices.Delete(slices.Clone(h.oracle.givenUp), n, n+1)
	if h.luck.one(2) {
		others = slices.DeleteFunc(others, func(l givenUp) bool {
			if l.loop != taken[0].loop || len(taken) == maxTogether {
				return false
			}
			taken = append(taken, l)
			return true
		})
		h.shuffle(len(taken), func(i, j int) { taken[i], taken[j] = taken[j], taken[i] })
	}
	h.oracle.givenUp = others
	h.happened["record given up taken up"] += len(taken)
	var payloads []json.RawMessage
	var users []string
	for _, l := range taken {
		payloads, users = append(payloads, l.payload), append(users, l.users...)
	}
	payloads = h.unpack(payloads)
	back := func() { h.oracle.givenUp = append(h.oracle.givenUp, taken...) }
	w := h.handleRaw(taken[0].loop, describe("%s and %d more", taken[0].name, len(taken)-1), payloads, users,
		func(unfinished string) {
			if unfinished != "" {
				back()
			}
		})
	w.lost = back
	return w
}

// takeParked delivers the n-th parked record to its consumer, and possibly others of the same consumer with it. Their
// objects are restored if it does not finish.
func (h *history) takeParked(names []string, n int) *worker {
	first, consumer := h.readParked(names[n])
	objects, records := map[string][]byte{names[n]: first.body}, first.records
	if h.luck.one(2) {
		for _, name := range names {
			more, its := h.readParked(name)
			if name == names[n] || its != consumer || len(objects) == maxTogether {
				continue
			}
			objects[name] = more.body
			records = append(records, more.records...)
		}
		h.shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	}
	h.happened["parked record taken up"] += len(objects)
	back := func() {
		for name, body := range objects {
			if owner, _ := register.OwnerOf(name); h.isGone(owner) {
				continue
			}
			if err := h.parking.Put(noContext, name, body); err != nil {
				h.violate("I8", "", name, "%v", err)
			}
		}
	}
	for name := range objects {
		if err := h.parking.Delete(noContext, name); err != nil {
			h.violate("I8", "", name, "%v", err)
		}
	}
	w := h.handleRaw(h.alone[consumer], describe("parked %s and %d more", names[n], len(objects)-1), records, h.users,
		func(unfinished string) {
			if unfinished != "" {
				back()
			}
		})
	w.lost = back
	return w
}

// parkedObject is the content of a parked object.
type parkedObject struct {
	body    []byte
	records []json.RawMessage
}

func (h *history) readParked(name string) (parkedObject, string) {
	body, err := h.parking.Get(noContext, name)
	if err == nil {
		var parked consume.Parked
		var records []json.RawMessage
		if parked, err = consume.ReadParked(body); err == nil {
			if records, err = consume.Records(body); err == nil {
				return parkedObject{body, records}, parked.Consumer
			}
		}
	}
	h.violate("I8", "", name, "a parked record cannot be read: %v", err)
	return parkedObject{}, ""
}

func (h *history) shuffle(n int, swap func(i, j int)) {
	if h.luck.one(2) {
		h.luck.Shuffle(n, swap)
	}
}
