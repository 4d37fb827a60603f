package simulate

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// seededRand draws everything that a seed decides. Each step draws its own, so that leaving one out changes nothing
// about the others' draws.
type seededRand struct {
	*rand.Rand
	source *rand.PCG
	seed   uint64
	calm   bool
	profile
}

// walkFor returns how long a call of the walker works: in one history of two it ends after each page.
func (l *seededRand) walkFor() time.Duration {
	if l.seed%2 == 0 {
		return time.Nanosecond - time.Hour
	}
	return 0
}

// bits returns the source of what distinguishes rows.
func (l *seededRand) bits() io.Reader {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], l.seed)
	return rand.NewChaCha8(seed)
}

// profile describes a history as a whole.
type profile struct {
	names     []string // of the users
	shards    int
	apart     bool // each consumer has a reader of its own
	faults    int  // of ten thousand port calls
	crashes   int  // of a hundred faults
	held      int  // of a hundred workers, those that are paused while others continue
	begin     time.Time
	zone      string   // the zone whose clocks are about to change
	kinds     []string // what its users have
	slow      bool     // days pass rather than hours
	importing bool     // calendars of other programs are imported
	crowd     int      // the number of items that the first user has from the start; 0 for none
	damaging  bool     // derived rows are lost or overwritten, and repaired
	devices   map[string]int
	picky     int  // one in so many devices follows some types only; 0 for none
	attached  bool // the devices hear of everything at once
	sleepy    bool // weeks pass
}

// allKinds are the types of users' items, as often as they are to be chosen.
var allKinds = []string{
	product.TypeEvent, product.TypeTask, product.TypeTask, product.TypeReminder, product.TypeReminder, product.TypeNote,
	entity.TypeMaster, entity.TypeMaster, entity.TypeMaster,
}

// eves are days before clocks change, or a day is left out, and where they do.
var eves = [...]struct {
	at   time.Time
	zone string
}{
	{time.Date(2025, time.March, 8, 9, 0, 0, 0, time.UTC), newYork},
	{time.Date(2025, time.March, 29, 7, 30, 0, 0, time.UTC), london},
	{time.Date(2025, time.April, 5, 3, 0, 0, 0, time.UTC), lordHowe},   // half an hour back
	{time.Date(2025, time.October, 4, 6, 0, 0, 0, time.UTC), lordHowe}, // half an hour on
	{time.Date(2025, time.October, 25, 12, 0, 0, 0, time.UTC), london},
	{time.Date(2025, time.November, 1, 18, 0, 0, 0, time.UTC), newYork},
	{time.Date(2011, time.December, 28, 20, 0, 0, 0, time.UTC), apia}, // which had no 30 December
	{time.Date(2024, time.February, 28, 10, 0, 0, 0, time.UTC), newYork},
}

func newLuck(seed uint64) *seededRand {
	source := rand.NewPCG(seed, 0)
	l := &seededRand{Rand: rand.New(source), source: source, seed: seed}
	l.profile = profile{
		names: namesOf(seed, pick(l, 2, 2, 3, 4)), shards: 1 + l.IntN(3), apart: l.IntN(4) == 0,
		faults:  [...]int{0, 50, 150, 400, 1000}[l.IntN(5)],
		crashes: [...]int{0, 30, 60, 100}[l.IntN(4)],
		held:    [...]int{0, 20, 50}[l.IntN(3)],
		kinds:   allKinds, slow: l.one(3), damaging: l.one(4), importing: l.one(3),
	}
	if l.one(16) {
		l.crowd = pick(l, 60, 110, 110, 210)
		l.damaging = l.damaging || l.one(2) // a loss of many rows
		if l.one(30) {
			l.crowd = town
		}
	}
	eve := eves[l.IntN(len(eves))]
	l.begin, l.zone = eve.at, eve.zone
	if !l.one(4) { // few kinds, so that each gets further
		l.kinds = []string{pick(l, allKinds...), pick(l, allKinds...)}
	}
	l.drawDevices()
	return l
}

// drawDevices gives each user one to three devices; in one history of four no user has any.
func (l *seededRand) drawDevices() {
	l.devices = map[string]int{}
	if l.one(4) || l.crowd == town {
		return
	}
	for _, user := range l.names {
		l.devices[user] = 1 + l.IntN(3)
	}
	l.picky = pick(l, 0, 2, 3, 5)
	l.attached, l.sleepy = l.one(8), l.one(4)
}

// step begins to draw for a step.
func (l *seededRand) step(n int) { l.source.Seed(l.seed, uint64(n)+1) }

func (l *seededRand) one(in int) bool { return l.IntN(in) == 0 }

func pick[T any](l *seededRand, choices ...T) T { return choices[l.IntN(len(choices))] }

// seldom is how much likelier a fault is at the ports that are called less often than the store.
const seldom = 4

// fault returns the fault of a port call.
func (l *seededRand) fault(h *history, port, op string) fault {
	if l.calm || h.settling || l.faults == 0 {
		return noFault
	}
	if h.storm > 0 {
		h.storm--
		h.happened["throttled in a storm"]++
		return failBefore
	}
	if t := h.current.trip; t != nil {
		return t.fault(h, op)
	}
	likely := l.faults
	if port != storeName {
		likely *= seldom
	}
	draw := l.Uint64()
	if int(draw%10_000) >= likely {
		return noFault
	}
	draw /= 10_000
	if int(draw%100) < l.crashes {
		return [...]fault{crashBefore, crashAfter}[draw/100%2]
	}
	return [...]fault{failBefore, failAfter}[draw/100%2]
}

// storeError returns the error of a store call without an effect.
func (h *history) storeError(op string) error {
	l := h.luck
	if op == "Transact" && (h.storm > 0 || l.one(2)) {
		return table.ErrConflict
	}
	return pick(l, table.ErrThrottled, table.ErrUnavailable)
}

// misfortune reports whether faults are possible at the moment.
func (l *seededRand) misfortune(h *history) bool { return l.faults > 0 && !l.calm && !h.settling }

// uuid returns an id of the form of a random one, from the seeded source.
func (l *seededRand) uuid() string {
	a, b := l.Uint64(), l.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
}
