package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nexus/pkg/bus"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/stats"
	"nexus/pkg/table"
)

// harm is a fault of one delivery that persists over all attempts.
type harm int

const (
	refusal    harm = iota // the store refuses what is written, for good
	panicked               // the consumer panics
	condemned              // the consumer says that a record can never be processed, and gives no reason
	tooFew                 // the consumer answers for fewer records than it received, once
	speechless             // the consumer requests a repetition without a reason, once
)

func (h harm) String() string {
	return [...]string{"refusal", "panic", "condemned", "too few outcomes", "no reason"}[h]
}

// curse is a harm to one consumer in one delivery: to all its work, or to the records of one item.
type curse struct {
	harm
	consumer string
	picky    bool
	item     string // of a picky one: chosen when the consumer is first called
	over     bool   // a harm that happens once has happened
}

// curse puts a harm on a delivery. The statistics suffer most: their items share a row and transactions, so what is
// refused to one may harm the others.
func (h *history) curse(w *worker, consumers []string) {
	if !h.luck.misfortune(h) || !h.luck.one(8) {
		return
	}
	w.cursed = &curse{
		harm:     pick(h.luck, refusal, refusal, refusal, refusal, panicked, panicked, condemned, tooFew, speechless),
		consumer: consumers[h.luck.IntN(len(consumers))],
		picky:    !h.luck.one(3),
	}
	if slices.Contains(consumers, stats.Name) && h.luck.one(2) {
		w.cursed.consumer = stats.Name
	}
}

// begin records that the consumer is called with a batch.
func (c *curse) begin(h *history, consumer string, batch []change.Change) {
	if c == nil || c.consumer != consumer {
		return
	}
	if c.picky && c.item == "" {
		if c.item = batch[h.luck.IntN(len(batch))].Ref.ID; c.item == "" {
			c.picky = false // it concerns a row that is no item's
		}
	}
	at := h.current.at()
	at.panicIn = 0
	for _, ch := range batch {
		if c.harm == panicked && (!c.picky || ch.Ref.ID == c.item) {
			at.panicIn = 1 + h.luck.IntN(4)
		}
	}
}

// strike handles a store call of the worker: the consumer may panic there, or the store refuse the write.
func (h *history) strike(w *worker, op string, writes []table.Action) error {
	if err := h.refuse(w, op, writes); err != nil {
		return err
	}
	at := w.at()
	if at.panicIn == 0 {
		return nil
	}
	if at.panicIn--; at.panicIn == 0 {
		h.happened["panic"]++
		panic(fmt.Sprintf("%s: a mistake in %s", op, at.consumer))
	}
	return nil
}

// refuse returns the store's final refusal of the worker's writes.
func (h *history) refuse(w *worker, op string, writes []table.Action) error {
	for _, c := range w.curses() {
		if !c.meets(w.at().consumer) || c.harm != refusal || len(writes) == 0 || c.picky && !h.concern(writes, c.item) {
			continue
		}
		h.happened["refusal for good"]++
		if c.picky {
			h.spread(c, w.at().consumer)
		}
		return fmt.Errorf("%s: %w%s", op, table.ErrInvalid, pick(h.luck, "", strings.Repeat(" because", 600)))
	}
	return nil
}

// meets reports whether the curse concerns a consumer; a repair counts as all of them.
func (c *curse) meets(consumer string) bool {
	isChosen := !c.picky || c.item != ""
	return isChosen && (c.consumer == consumer || c.consumer == "" || consumer == "")
}

// curses returns those on a worker: its own, and the store's refusals to a concurrent worker.
func (w *worker) curses() []*curse {
	if w.cursed == nil {
		return w.caught
	}
	return append([]*curse{w.cursed}, w.caught...)
}

// spread makes the store refuse the same to all running workers: a final refusal holds for every worker. A refusal to
// a repair holds for each consumer, since a repair writes the rows of all of them.
func (h *history) spread(c *curse, consumer string) {
	if consumer == "" {
		c.consumer = ""
	}
	for _, other := range h.workers {
		h.catch(other, c)
	}
}

func (h *history) catch(w *worker, c *curse) {
	if w.cursed != c && (w.kind == delivering || w.kind == repairing) && !slices.Contains(w.caught, c) {
		w.caught = append(w.caught, c)
	}
}

// refusesEvent reports whether the bus refuses an event of the consumer for good, possibly after it accepted the same
// one before.
func (w *worker) refusesEvent(events []bus.Event) bool {
	c := w.cursed
	if c == nil || c.harm != refusal || w.at().consumer != c.consumer {
		return false
	}
	return !c.picky || slices.ContainsFunc(events, func(e bus.Event) bool {
		var about struct{ ItemID string } // an event names other items, too
		return json.Unmarshal(e.Detail, &about) == nil && about.ItemID == c.item
	})
}

// concern reports whether a write is one of an item's own rows, or of the sum with the item's entry. A pending entry
// of the item in the sum's row is refused, too, when it is to be flushed.
func (h *history) concern(writes []table.Action, it string) bool {
	for _, action := range writes {
		if _, isCheck := action.(table.Check); isCheck {
			continue // it writes nothing
		}
		key := action.Target()
		if update, ok := action.(table.Update); ok {
			if last, is := update.Set[product.AttrStatsLast].(item.Map); is && item.Item(last).Str(ledgerItem) == it {
				return true
			}
		}
		if ownerOf(key) != it {
			continue
		}
		return true
	}
	return false
}

// ownerOf returns the item of a row; "" for none.
func ownerOf(key item.Key) string {
	sk, err := entity.ParseSortKey(key.SK)
	if err != nil {
		return ""
	}
	switch sk.Prefix {
	case entity.RowLedger, entity.RowLink:
		return sk.Components[1]
	case entity.RowFired, entity.RowCold, entity.RowGone, entity.RowSeries:
		return sk.Components[0]
	case entity.RowTimer:
		timer, err := entity.ParseTimer(key.SK)
		if err != nil {
			return ""
		}
		return timer.TaskID
	}
	if sk.IsRow() {
		return ""
	}
	return sk.Ref().ID
}

// outcomes returns the consumer's answers.
func (c *curse) outcomes(consumer string, batch []change.Change, outcomes []change.Outcome) []change.Outcome {
	if c == nil || c.consumer != consumer || c.over {
		return outcomes
	}
	switch c.harm {
	case condemned:
		for i := range outcomes {
			if !c.picky || batch[i].Ref.ID == c.item {
				outcomes[i] = change.Outcome{Verdict: change.Poison}
			}
		}
	case tooFew:
		c.over = true
		return outcomes[1:]
	case speechless:
		c.over = true
		for i := range outcomes {
			outcomes[i] = change.Outcome{Verdict: change.Retry}
		}
	}
	return outcomes
}

// errInnocent is why a record must not be parked.
var errInnocent = errors.New("would have succeeded later")

// mayPark returns nil if the parked record can never be processed at present: it is damaged, or it is one of those
// that the curse concerns. A walk over many items is affected by each of them.
func (w *worker) mayPark(name string, body []byte) error {
	parked, err := consume.ReadParked(body)
	if err != nil {
		return err
	}
	if w.junk != nil && string(parked.Record) == string(w.junk) {
		return nil
	}
	for _, c := range w.curses() {
		if err := c.mayPark(name, parked); err == nil || w.blocksOnEntry(c, parked) {
			return nil
		}
	}
	return errInnocent
}

func (c *curse) mayPark(name string, parked consume.Parked) error {
	if c.harm > condemned || c.consumer != "" && !strings.HasPrefix(name, consume.ParkedPrefix+c.consumer+"/") {
		return errInnocent
	}
	if strings.HasPrefix(name, consume.ParkedPrefix+stats.Name+"/"+c.item+"/") {
		return nil // the refused row is USER_META, which holds the sum of all that user's items
	}
	var record struct {
		DynamoDB struct {
			Keys struct{ SK struct{ S string } }
		} `json:"dynamodb"`
	}
	if err := json.Unmarshal(parked.Record, &record); err != nil {
		return err
	}
	sk := record.DynamoDB.Keys.SK.S
	walks := parked.Consumer == reminders.Name &&
		(strings.HasPrefix(sk, entity.TypeUserMeta) || strings.HasPrefix(sk, entity.TypeMaster))
	key, err := entity.ParseSortKey(sk)
	if c.picky && !walks &&
		(err != nil || key.IsRow() && !strings.Contains(sk, c.item) || !key.IsRow() && key.Ref().ID != c.item) {
		return errInnocent
	}
	return nil
}
