package reminders_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/pkg/item"
)

// scenarios are histories in which the consumer and the notifier make every kind of call. Each begins and ends quiet.
var scenarios = map[string]func(w *fixture){
	"delivered on time": func(w *fixture) {
		w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "15,60"))
		w.advance(3 * time.Hour)
	},
	"delivered late by the consumer": func(w *fixture) {
		w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "15,60"))
		w.to(noon.Add(80 * time.Minute))
		w.advance(3 * time.Hour)
	},
	"a reminder snoozed twice": func(w *fixture) {
		w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
		w.advance(65 * time.Minute)
		w.putOff("rem_1", noon.Add(90*time.Minute))
		w.advance(30 * time.Minute)
		w.putOff("rem_1", noon.Add(150*time.Minute))
		w.to(noon.Add(3 * time.Hour))
		w.advance(time.Hour)
	},
	"offsets and states that change": func(w *fixture) {
		w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(5*time.Hour)), "15,60"))
		w.runUntilIdle()
		w.change("task_1", func(it item.Item) { it["reminderMinutes"] = item.Ints(30, 60) })
		w.runUntilIdle()
		w.change("task_1", func(it item.Item) { it["status"] = item.String("COMPLETED") })
		w.runUntilIdle()
		w.change("task_1", func(it item.Item) { it["status"] = item.String("BACKLOG") })
		w.advance(6 * time.Hour)
	},
	"delivered twice": func(w *fixture) {
		w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "15,60"))
		w.runUntilIdle()
		w.deliver(w.history...)
		w.advance(3 * time.Hour)
	},
	"floating and arranged only": func(w *fixture) {
		w.create("task_1", fmt.Sprintf(floatingTask, "2025-12-01T20:00:00", "15,60"))
		w.runUntilIdle()
		w.moveTo("America/New_York")
		w.runUntilIdle()
	},
	"floating through zones": func(w *fixture) {
		w.create("task_1", fmt.Sprintf(floatingTask, "2025-12-01T20:00:00", "15,60"))
		w.create("rem_1", `{"title":"r","triggerUtc":"2025-12-01T19:00:00"}`)
		w.runUntilIdle()
		w.moveTo("Asia/Tokyo")
		w.runUntilIdle()
		w.moveTo("America/New_York")
		w.advance(24 * time.Hour)
	},
}

// meddlers change something while the consumer or the notifier is at work.
var meddlers = map[string]func(w *fixture){
	"no client": func(*fixture) {},
	"complete": func(w *fixture) {
		w.change("task_1", func(it item.Item) { it["status"] = item.String("COMPLETED") })
		w.change("rem_1", func(it item.Item) { it["status"] = item.String("COMPLETED") })
	},
	"offsets come and go": func(w *fixture) {
		w.change("task_1", func(it item.Item) { it["reminderMinutes"] = item.Ints(30) })
		w.change("task_1", func(it item.Item) { it["reminderMinutes"] = item.Ints(45, 5) })
	},
	"offsets and back": func(w *fixture) {
		w.change("task_1", func(it item.Item) { it["reminderMinutes"] = item.Ints(30) })
		w.change("task_1", func(it item.Item) { it["reminderMinutes"] = item.Ints(15) })
	},
	"later": func(w *fixture) {
		later := item.String(at(noon.Add(20 * time.Hour)))
		w.change("task_1", func(it item.Item) { it["dueUtc"] = later })
		w.change("rem_1", func(it item.Item) { it["triggerUtc"] = later })
	},
	"rename":      func(w *fixture) { w.change("task_1", rename); w.change("rem_1", rename) },
	"delete":      func(w *fixture) { w.drop("task_1"); w.drop("rem_1") },
	"travel":      func(w *fixture) { w.moveTo("Pacific/Auckland") },
	"travel west": func(w *fixture) { w.moveTo("Pacific/Honolulu") },
	"time":        func(w *fixture) { w.now = w.now.Add(61 * time.Minute) },
	"replay":      func(w *fixture) { w.deliver(append(w.history, w.records()...)...) },
	"travel and complete": func(w *fixture) {
		w.moveTo("Pacific/Auckland")
		w.change("task_1", func(it item.Item) { it["status"] = item.String("COMPLETED") })
	},
	"snooze": func(w *fixture) {
		w.putOff("rem_1", w.now.Add(7*time.Minute))
	},
}

func rename(it item.Item) { it["title"] = item.String("Another title") }

func (w *fixture) exists(id string) bool {
	_, err := w.store.Get(w.Context(), w.key(id))
	return err == nil
}

func (w *fixture) change(id string, edit func(item.Item)) {
	if w.exists(id) {
		w.edit(id, edit)
	}
}

// putOff snoozes a reminder that can be snoozed.
func (w *fixture) putOff(id string, until time.Time) {
	if w.exists(id) && w.item(id).Str("status") != "COMPLETED" {
		w.snooze(id, until)
	}
}

func (w *fixture) drop(id string) {
	if w.exists(id) {
		w.remove(id)
	}
}

var everyStep = flag.Bool("every-step", false, "strike at every step, not at one of a few")

// strikes are the steps at which a fault strikes. Without another worker it strikes at every step. With others some
// steps are left out, spread evenly over the tests.
type strikes struct{ alone, others int }

func (s strikes) pick(meddler string, variant int) (first, by int) {
	by = s.others
	if meddler == "no client" {
		by = s.alone
	}
	if *everyStep {
		by = 1
	}
	return 1 + (len(meddler)+2*variant)%by, by
}

func TestReminders_areExactAfterACrashOrAnotherWorkerAtEveryStep(t *testing.T) {
	t.Parallel()
	strikeAtEachStep(t, scenarios, meddlers, strikes{1, 8})
}

func strikeAtEachStep(t *testing.T, scenarios, meddlers map[string]func(w *fixture), s strikes) {
	long.Only(t, "plays a thousand histories")
	for name, scenario := range scenarios {
		for meddler, meddle := range meddlers {
			t.Run(name+"/"+meddler, func(t *testing.T) {
				t.Parallel()
				quiet := setup(t)
				scenario(quiet)
				quiet.advance(72 * time.Hour)
				quiet.requireExact()
				for i, variant := range []struct{ die, settle bool }{{true, false}, {true, true}, {false, true}} {
					for step, by := s.pick(meddler, i); step <= quiet.fault.steps; step += by {
						w := setup(t)
						w.fault.at, w.fault.die = step, variant.die
						w.fault.meddle = func() {
							meddle(w)
							if variant.settle {
								w.runUntilIdle() // another worker is done with everything first
							}
						}
						w.step = step
						scenario(w)
						w.requireExact()
						w.advance(72 * time.Hour)
						w.requireExact()
						w.requireNothingLost()
						if meddler == "no client" {
							require.ElementsMatch(t, quiet.published(), w.published(), "step %d", step)
						}
					}
				}
			})
		}
	}
}
