package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/reminders"
)

func TestFunctions_answerEveryPayloadOfEvents(t *testing.T) {
	t.Parallel()
	for name, functions := range described(t) {
		for _, function := range functions {
			t.Run(name+" to "+string(function), func(t *testing.T) {
				t.Parallel()
				drive := drives()[name]
				if strings.HasPrefix(name, "stream-") {
					drive = (*fixture).driveStream
				}
				require.NotNil(t, drive, "the right answer is not known")
				w := setup(t)
				drive(w, function, name)
			})
		}
	}
}

// drives returns what sends each payload, except those of the stream, and knows the right answer.
func drives() map[string]func(*fixture, env.Function, string) {
	return map[string]func(*fixture, env.Function, string){
		"command-create-task": func(w *fixture, f env.Function, name string) {
			created := w.requireStatus(w.start(f), name, http.StatusCreated)
			require.Equal(w, createdID, created["taskId"])
		},
		"command-url-create-task": func(w *fixture, f env.Function, name string) {
			i := w.issuer()
			fn := w.start(f).by(env.DirectAlias)
			w.requireStatus(fn, name, http.StatusUnauthorized)
			a := fn.request(changed(w.T, w.payload(name), map[string]any{"headers/authorization": i.bearer(i.key, nil)}))
			require.Equal(w, http.StatusCreated, a.StatusCode, a.Body)
			require.Equal(w, createdID, object(w.T, a.Body)["taskId"])
		},
		"query-url-agenda": func(w *fixture, f env.Function, name string) {
			i := w.issuer()
			fn := w.start(f).by(env.DirectAlias)
			w.requireStatus(fn, name, http.StatusUnauthorized)
			a := fn.request(changed(w.T, w.payload(name), map[string]any{"headers/authorization": i.bearer(i.key, nil)}))
			require.Equal(w, http.StatusOK, a.StatusCode, a.Body)
			require.Empty(w, object(w.T, a.Body)["items"])
		},
		"command-update-task": func(w *fixture, f env.Function, name string) {
			fn := w.start(f)
			w.requireStatus(fn, name, http.StatusNotFound)
			w.requireStatus(fn, "command-create-task", http.StatusCreated)
			require.EqualValues(w, 2, w.requireStatus(fn, name, http.StatusOK)["version"])
			w.requireStatus(fn, name, http.StatusPreconditionFailed)
		},
		"command-direct": func(w *fixture, f env.Function, name string) {
			w.requireResults(f, name, http.StatusCreated, http.StatusOK, http.StatusNotFound)
		},
		"command-direct-series": func(w *fixture, f env.Function, name string) {
			w.requireResults(f, name, http.StatusCreated, http.StatusOK, http.StatusOK, http.StatusCreated,
				http.StatusPreconditionFailed)
		},
		"command-import-calendar": func(w *fixture, f env.Function, name string) {
			require.EqualValues(w, 2, w.requireStatus(w.start(f), name, http.StatusOK)["created"])
		},
		"query-task": func(w *fixture, f env.Function, name string) {
			fn := w.start(f)
			w.requireStatus(fn, name, http.StatusNotFound)
			w.requireStatus(w.start(env.Command), "command-create-task", http.StatusCreated)
			require.Equal(w, createdID, w.requireStatus(fn, name, http.StatusOK)["taskId"])
		},
		"query-agenda": func(w *fixture, f env.Function, name string) {
			fn := w.start(f)
			require.Empty(w, w.requireStatus(fn, name, http.StatusOK)["items"])
			w.requireStatus(w.start(env.Command), "command-create-task", http.StatusCreated)
			require.Len(w, w.requireStatus(fn, name, http.StatusOK)["items"], 1)
		},
		"query-health": func(w *fixture, f env.Function, name string) { w.requireStatus(w.start(f), name, http.StatusOK) },
		"walk-zone-changed": func(w *fixture, f env.Function, name string) {
			w.happen("stream-reminder-created")
			w.happen("stream-zone-changed")
			fn := w.start(f)
			w.services.breakDown("scheduler", true)
			require.NotNil(w, fn.invoke(w.payload(name)).failure)
			w.services.breakDown("scheduler", false)
			require.JSONEq(w, `{}`, string(fn.succeed(w.payload(name))))
			reading := w.moved(present.Add(20 * time.Hour)).Add(-5*time.Hour - 30*time.Minute) // in India
			w.requireSchedules(map[string]time.Time{reminders.ScheduleName(user, floatingID, 0): reading})
		},
		"account-scheduled": func(w *fixture, f env.Function, name string) {
			require.JSONEq(w, `{}`, string(w.start(f).succeed(w.payload(name))), "no account has left")
		},
		"canary-scheduled": func(w *fixture, _ env.Function, name string) {
			fn, given := startCanary(w.T, startPlatform(w.T).address, canarySecret)
			require.JSONEq(w, `{}`, string(fn.succeed(w.payload(name))))
			require.EqualValues(w, 1, given.Load())
		},
		"notify-reminder-due": func(w *fixture, f env.Function, name string) {
			payload, _ := w.becomeDue()
			fn := w.start(f)
			w.services.breakDown("bus", true)
			require.NotNil(w, fn.invoke(payload).failure)
			w.services.breakDown("bus", false)
			require.JSONEq(w, `{}`, string(fn.succeed(payload)))
			w.requireEvent("ReminderDue")
		},
		"deliver-reminder-due": func(w *fixture, f env.Function, name string) {
			payload, browser := w.becomeTold()
			fn := w.start(f)
			require.JSONEq(w, `{}`, string(fn.succeed(payload)), "the user has no device")
			browser.register()
			require.JSONEq(w, `{}`, string(fn.succeed(payload)))
			require.JSONEq(w, `{}`, string(fn.succeed(payload)), "the row knows")
			require.Len(w, browser.got(), 1)
		},
		"deliver-push-again": func(w *fixture, f env.Function, name string) {
			event, browser := w.becomeTold()
			browser.register()
			browser.answers(http.StatusServiceUnavailable, 600)
			fn := w.start(f)
			require.JSONEq(w, `{}`, string(fn.succeed(w.payload(name))), "there is nothing to tell")
			fn.succeed(event)
			w.pastNextAttempt()
			browser.answers(http.StatusCreated, 0)
			w.services.breakDown("scheduler", true)
			require.NotNil(w, fn.invoke(w.payload(name)).failure, "its schedule stays")
			w.services.breakDown("scheduler", false)
			require.JSONEq(w, `{}`, string(fn.succeed(w.payload(name))))
			require.Len(w, browser.got(), 1)
			require.Empty(w, w.services.waiting(), "what is done has no schedule")
		},
	}
}

// requireStatus sends a payload of the HTTP API and returns the answer's body.
func (w *fixture) requireStatus(f *function, name string, status int) map[string]any {
	w.Helper()
	a := f.request(w.payload(name))
	require.Equal(w, status, a.StatusCode, "%s: %s", name, a.Body)
	return object(w.T, a.Body)
}

// requireResults sends a direct invocation and compares what became of each command.
func (w *fixture) requireResults(f env.Function, name string, statuses ...int) {
	w.Helper()
	var answer struct{ Results []struct{ Status int } }
	require.NoError(w, json.Unmarshal(w.start(f).succeed(w.payload(name)), &answer))
	var have []int
	for _, r := range answer.Results {
		have = append(have, r.Status)
	}
	require.Equal(w, statuses, have)
}

// driveStream delivers the records of a payload followed by one that can neither be decoded nor, at first, be
// parked: the answer names that one and no other. Then nothing stands in its way any more, and all of it is finished,
// as often as it comes.
func (w *fixture) driveStream(function env.Function, name string) {
	w.Helper()
	records, err := consume.Records(w.happen(name))
	require.NoError(w, err)
	undecodable, err := consume.Records(w.now("stream-undecodable"))
	require.NoError(w, err)
	bad := object(w.T, string(undecodable[1]))
	const sequence = "999999999999999999999"
	bad["dynamodb"].(map[string]any)["SequenceNumber"] = sequence
	text, err := json.Marshal(bad)
	require.NoError(w, err)
	if name == "stream-undecodable" { // its own one is not to stand before it
		records = append(records[:1], records[2:]...)
	}
	batch := consume.Event(append(records, text))

	f := w.start(function)
	w.services.breakDown("parking", true)
	require.JSONEq(w, `{"batchItemFailures":[{"itemIdentifier":"`+sequence+`"}]}`, string(f.succeed(batch)), "%s", f.log)
	w.services.breakDown("parking", false)
	f.handled(batch)
	f.handled(batch)
	f.handled(w.now(name))
}
