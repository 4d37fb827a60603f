package reminders_test

import (
	"fmt"
	"testing"
	"time"

	"nexus/pkg/command"
)

// Histories of series and recurring reminders in which the consumer and the notifier make every kind of call.
var seriesScenarios = map[string]func(w *fixture){
	"a chain with exceptions": func(w *fixture) {
		w.create("mst_1", fmt.Sprintf(dailyAt, "15,60"))
		w.runUntilIdle()
		w.except("mst_1", "20251202", `{"startUtc":"2025-12-02T18:00:00Z"}`)
		w.except("mst_1", "20251203", `{"reminderMinutes":[5,15]}`)
		w.cancel("mst_1", "20251204")
		w.advance(50 * time.Hour)
	},
	"exceptions that follow their series": func(w *fixture) {
		w.create("mst_1", fmt.Sprintf(dailyAt, "15"))
		w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
		w.except("mst_1", "20251203", `{"reminderMinutes":[5,30],"startUtc":"2025-12-03T10:00:00Z"}`)
		w.runUntilIdle()
		w.patchSeries("mst_1", `{"startUtc":"2025-12-01T15:00:00Z","endUtc":null}`)
		w.runUntilIdle()
		w.except("mst_1", "20251202", `{}`)
		w.runUntilIdle()
		w.patchSeries("mst_1", `{"exdate":["20251203"]}`)
		w.advance(30 * time.Hour)
	},
	"delivered late by the consumer": func(w *fixture) {
		w.create("mst_1", fmt.Sprintf(dailyAt, "15,60"))
		w.except("mst_1", "20251201", `{"title":"Other"}`)
		w.to(noon.Add(110 * time.Minute))
		w.advance(30 * time.Hour)
	},
	"floating and travelling": func(w *fixture) {
		w.create("mst_1", `{"title":"Pills","startUtc":"2025-12-01T20:00:00","rrule":"FREQ=DAILY","reminderMinutes":[15]}`)
		w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
		w.create("rem_1", `{"title":"x","triggerUtc":"2025-12-01T19:00:00","rrule":"FREQ=DAILY"}`)
		w.runUntilIdle()
		w.moveTo("Asia/Tokyo")
		w.runUntilIdle()
		w.moveTo("America/New_York")
		w.advance(30 * time.Hour)
	},
	"deleted": func(w *fixture) {
		w.create("mst_1", fmt.Sprintf(dailyAt, "15"))
		w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
		w.runUntilIdle()
		w.deleteSeries("mst_1")
		w.runUntilIdle()
	},
	"a reminder that recurs": func(w *fixture) {
		w.create("rem_1", fmt.Sprintf(dailyRem, ";COUNT=3"))
		w.advance(65 * time.Minute)
		w.act(snoozeFor("rem_1", 25*60))
		w.advance(26 * time.Hour)
		w.act(snoozeFor("rem_1", 30))
		w.to(noon.Add(50 * time.Hour))
		w.advance(time.Hour)
	},
}

// Changes that others make to series and recurring reminders while the consumer works.
var seriesMeddlers = map[string]func(w *fixture){
	"no client": func(*fixture) {},
	"move": func(w *fixture) {
		w.exceptAny("20251202", `{"startUtc":"2025-12-05T09:00:00Z","startTzid":"Europe/London"}`)
	},
	"move the first": func(w *fixture) {
		w.exceptAny("20251201", `{"startUtc":"2025-12-04T09:00:00Z","startTzid":"Europe/London"}`)
	},
	"cancel":          func(w *fixture) { w.cancelAny("20251201"); w.cancelAny("20251202") },
	"offset given up": func(w *fixture) { w.exceptAny("20251202", `{"reminderMinutes":[7]}`) },
	"own offset":      func(w *fixture) { w.exceptAny("20251201", `{"reminderMinutes":[15]}`) },
	"own taken back":  func(w *fixture) { w.exceptAny("20251202", `{}`); w.exceptAny("20251203", `{}`) },
	"rename":          func(w *fixture) { w.exceptAny("20251202", `{"title":"Third"}`); w.patchAny(`{"title":"Fourth"}`) },
	"series later": func(w *fixture) {
		w.patchAny(`{"startUtc":"2025-12-01T17:00:00Z","startTzid":"Europe/London","endUtc":null}`)
	},
	"series' offsets": func(w *fixture) { w.patchAny(`{"reminderMinutes":[20]}`) },
	"and back": func(w *fixture) {
		w.patchAny(`{"reminderMinutes":[20]}`)
		w.patchAny(`{"reminderMinutes":[15]}`)
	},
	"no offsets at all": func(w *fixture) { w.patchAny(`{"reminderMinutes":null}`) },
	"another rule":      func(w *fixture) { w.patchAny(`{"rrule":"FREQ=DAILY;INTERVAL=2"}`) },
	"cancel the series": func(w *fixture) { w.patchAny(`{"status":"CANCELLED"}`) },
	"delete": func(w *fixture) {
		w.deleteSeries("mst_1")
		w.drop("rem_1")
	},
	"split":  func(w *fixture) { w.split("mst_1", "20251202", `{"reminderMinutes":[25]}`) },
	"travel": func(w *fixture) { w.moveTo("Pacific/Auckland") },
	"time":   func(w *fixture) { w.now = w.now.Add(61 * time.Minute) },
	"replay": func(w *fixture) { w.deliver(append(w.history, w.records()...)...) },
	"snooze": func(w *fixture) {
		w.act(snoozeFor("rem_1", 7))
	},
	"complete": func(w *fixture) {
		w.act(command.CompleteReminder{ID: "rem_1"})
	},
	"end the reminder": func(w *fixture) { w.act(command.DismissReminder{ID: "rem_1", Series: true}) },
	"another trigger": func(w *fixture) {
		if w.exists("rem_1") {
			w.patchReminder("rem_1", `{"triggerUtc":"`+at(w.now.Add(3*time.Hour))+`","tzid":"UTC"}`)
		}
	},
}

func (w *fixture) exceptAny(date, doc string) {
	if w.exists("mst_1") {
		w.except("mst_1", date, doc)
	}
}

func (w *fixture) cancelAny(date string) {
	if w.exists("mst_1") {
		w.cancel("mst_1", date)
	}
}

func (w *fixture) patchAny(doc string) {
	if w.exists("mst_1") {
		w.patchSeries("mst_1", doc)
	}
}

func TestReminders_areExactForSeriesAfterACrashAtEveryStep(t *testing.T) {
	t.Parallel()
	strikeAtEachStep(t, seriesScenarios, seriesMeddlers, strikes{23, 293})
}

// dueNow are the shortest histories in which an occurrence is delivered; what they decide on is changed at every step.
var dueNow = map[string]func(w *fixture){
	"an occurrence": func(w *fixture) {
		w.create("mst_1", fmt.Sprintf(dailyAt, "15"))
		w.runUntilIdle()
		w.advance(2 * time.Hour)
	},
	"an exception": func(w *fixture) {
		w.create("mst_1", fmt.Sprintf(dailyAt, "1440"))
		w.except("mst_1", "20251201", `{"reminderMinutes":[15]}`)
		w.runUntilIdle()
		w.advance(2 * time.Hour)
	},
}

func TestNotifier_deliversNothingThatChangedBeforeItsClaim(t *testing.T) {
	t.Parallel()
	changes := map[string]func(w *fixture){}
	for _, name := range []string{
		"no client", "move the first", "cancel", "own offset", "series later", "another rule", "cancel the series", "delete",
	} {
		changes[name] = seriesMeddlers[name]
	}
	changes["title"] = func(w *fixture) { w.exceptAny("20251201", `{"title":"Other","reminderMinutes":[15]}`) }
	changes["rule without it"] = func(w *fixture) { w.patchAny(`{"exdate":["20251201"]}`) }
	strikeAtEachStep(t, dueNow, changes, strikes{7, 11})
}
