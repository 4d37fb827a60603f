package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// templateVariable names the file of the template that is run: make deployed sets it.
const templateVariable = "NEXUS_TEMPLATE"

// kills are how many environments of a program are killed.
const kills = 10

// victims are the programs whose environments are killed.
var victims = []string{"command", "projections", "effects"}

func TestFunctions_workAsTheTemplateWiresThem(t *testing.T) {
	path := os.Getenv(templateVariable)
	if path == "" {
		t.Skip("make deployed synthesizes a template, and names it in " + templateVariable)
	}
	deeds := 300 // of each user
	if testing.Short() {
		deeds = 60
	}
	d := deploy(t, path, 1)
	defer d.stop()
	began := time.Now()
	phase := func(name string) { t.Logf("%5.1f s  %s", time.Since(began).Seconds(), name) }
	people := []*person{d.person(0), d.person(1), d.person(2)}

	phase("one user's write")
	d.requireDoor(people[0])
	ringing := people[0].create("reminders", map[string]any{
		"triggerUtc": time.Now().Add(50 * time.Second).UTC().Format(instantForm), "tzid": "Europe/Paris",
	})
	ringing.version = -1 // it is left alone
	d.await("the statistics follow", func() bool {
		return people[0].must(http.MethodGet, "/v1/me/stats", -1, nil)["totalReminders"] == 1.0
	})
	people[0].must(http.MethodPut, "/v1/me/watch", -1, nil)
	d.registerPhone(people[0])

	phase("a random week of three users, with faults and kills")
	d.doom.set(func(f *fates) {
		f.faulty = 40
		f.kills["command"], f.kills["projections"] = kills, kills
	})
	var week sync.WaitGroup
	for _, p := range people {
		week.Go(func() {
			for done := 0; done < deeds || d.doom.left("command", "projections") > 0 && done < 10*deeds; done++ {
				p.act()
			}
		})
	}
	week.Wait()
	export := func() string { return people[0].must(http.MethodPost, "/v1/me/exports", -1, nil)["exportId"].(string) }
	exported := export()
	d.await("the export is there", func() bool {
		d.callRules()
		d.pause(time.Second)
		state := people[0].must(http.MethodGet, "/v1/me/exports/"+exported, -1, nil)["state"]
		if state == "FAILED" { // after six workers that met faults: its user asks again
			exported = export()
		}
		return state == "DONE"
	})
	d.await("the first reminder has its schedule", func() bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(d.services.waiting())), func(s scheduled) bool {
			return strings.Contains(s.Target.Input, ringing.id)
		})
	})

	phase("services that hang")
	for _, service := range []string{"scheduler", "dynamodb"} {
		d.hang(service, people[1])
	}
	d.doom.set(func(f *fates) { f.faulty, f.kills["effects"] = 0, kills })

	phase("from a completed task to its restoration")
	task := people[2].create("tasks", map[string]any{})
	task.answered(people[2].must(http.MethodPatch, task.path(), task.version, map[string]any{"status": "COMPLETED"}))
	d.liveToRestore(people[2], task)

	phase("poison, records that are given up, and redrives")
	d.putAsideAndRedrive(people[1])

	phase("a recount")
	d.awaitQuiet()
	_, differences := d.recountByScan()
	require.Empty(t, slices.DeleteFunc(differences, func(difference string) bool {
		return strings.Contains(difference, ringing.id) // by now it may have rung, or be late by the scheduler's lead
	}))
	phase("a reminder rings on a phone")
	d.await("it rings", func() bool { return len(d.services.events("ReminderDue")) > 0 })
	d.ringPhone(people[0], ringing)
	d.awaitQuiet()
	facts, differences := d.recountByScan() // its action has completed the reminder
	require.Empty(t, differences)
	phase("everything once more")
	for _, m := range d.mappings {
		t.Logf("%s: %d records again, %d given up", m.id, m.replay(), m.given.Load())
	}
	d.awaitQuiet()
	for d.doom.left(victims...) > 0 {
		for _, m := range d.mappings {
			m.replay()
		}
		d.awaitQuiet()
	}
	again, differences := d.recountByScan()
	require.Empty(t, differences)
	require.Equal(t, facts, again)
	require.Greater(t, facts, deeds)
	deliveries := map[any]bool{} // a repetition after a kill has the same id
	for _, event := range d.services.events("ReminderDue") {
		deliveries[object(t, event.Detail)["deliveryId"]] = true
	}
	require.Len(t, deliveries, 1)
	phase("a receiver is told")
	d.requireReceiverTold(people[1])
	phase(fmt.Sprintf("%d facts are as recounted", facts))
	d.report()
}

// requireDoor holds the API's routes and authorizer against tokens that lack something.
func (d *deployed) requireDoor(p *person) {
	d.Helper()
	with := func(change func(*bearer)) bearer {
		token := p.token
		change(&token)
		return token
	}
	for _, c := range []struct {
		token        bearer
		method, path string
		want         int
	}{
		{p.token, http.MethodGet, "/v1/me", http.StatusOK},
		{bearer{}, http.MethodGet, "/v1/me", http.StatusUnauthorized},
		{with(func(b *bearer) { b.issuer = "another" }), http.MethodGet, "/v1/me", http.StatusUnauthorized},
		{with(func(b *bearer) { b.audience = "another" }), http.MethodGet, "/v1/me", http.StatusUnauthorized},
		{with(func(b *bearer) { b.scope = "openid" }), http.MethodGet, "/v1/me", http.StatusForbidden},
		{with(func(b *bearer) { b.scope = "nexus/read" }), http.MethodPost, "/v1/notes", http.StatusForbidden},
		{p.token, http.MethodGet, "/v1/nothing", http.StatusNotFound},
		{bearer{}, http.MethodGet, "/healthz", http.StatusOK},
		{bearer{}, http.MethodGet, "/feed/x", http.StatusNotFound},
	} {
		a := d.ask(c.token, c.method, c.path, "", nil)
		require.Equal(d, c.want, a.StatusCode, "%s %s with %+v: %s", c.method, c.path, c.token, a.Body)
	}
}

// liveToRestore follows a completed task: its timer ends, it is archived, copied and removed, and its user restores it.
func (d *deployed) liveToRestore(p *person, task *thing) {
	d.Helper()
	rows := func(kind string) (found []scannedRow) {
		for _, r := range d.scanned()[p.token.subject] {
			if r.kind() == kind && strings.Contains(r.text("SK"), task.id) {
				found = append(found, r)
			}
		}
		return found
	}
	d.await("the task has a timer", func() bool { return len(rows("TIMER")) == 1 })
	timer := rows("TIMER")[0]
	d.sweep(timer.text("PK"), timer.text("SK"))
	d.await("the task is archived, and its end is set", func() bool {
		found := rows("TASK")
		return len(found) == 1 && found[0].text("status") == "ARCHIVED" && found[0]["ttl"] != nil && len(rows("COLD")) == 1
	})
	row := rows("TASK")[0]
	d.sweep(row.text("PK"), row.text("SK"))
	status, _ := p.do(http.MethodGet, task.path(), -1, nil)
	require.Equal(d, http.StatusGone, status)
	task.answered(p.must(http.MethodPost, "/v1/archive/"+task.id+"/restore", -1, nil))
	require.Equal(d, task.id, p.must(http.MethodGet, task.path(), -1, nil)["taskId"])
}

// hang lets a service take requests of a user and answer none, for a while.
func (d *deployed) hang(service string, p *person) {
	d.Helper()
	before := d.doom.silences()
	d.doom.set(func(f *fates) { f.hanging = service })
	var asking sync.WaitGroup
	asking.Go(func() {
		p.create("reminders", map[string]any{"triggerUtc": p.hours().Format(instantForm), "tzid": "Europe/Paris"})
	})
	d.await(service+" hangs", func() bool { return d.doom.silences() > before })
	d.pause(time.Second)
	d.doom.set(func(f *fates) { f.hanging = "" })
	asking.Wait()
}

// putAsideAndRedrive lets the table refuse one task's writes by projections for good, so that the records are parked,
// and runs effects with a wrong variable until records are too old. When both are right again, it delivers what was put
// aside, as docs/operations.md says.
func (d *deployed) putAsideAndRedrive(p *person) {
	d.Helper()
	const id = "task_00000000-0000-4000-8000-00000000dead"
	effects, l := d.mappingOf("effects"), d.lambdas[prefixOfFunctions+"effects"]
	right := l.environment["TABLE_NAME"]
	l.mistake("TABLE_NAME", "no table's name")
	effects.older.Store(int64(24 * time.Hour))
	d.doom.set(func(f *fates) { f.refused = id })
	p.must(http.MethodPost, "/v1/tasks", -1, map[string]any{
		"taskId": id, "title": "Poison", "dueUtc": p.hours().Format(instantForm), "dueTzid": "Europe/Paris",
		"reminderMinutes": []int{10},
	})
	d.await("records are parked", func() bool { return len(d.parked("parked/")) > 0 })
	d.await("records are given up", func() bool { return len(d.parked("aws/lambda/")) > 0 })
	d.awaitQuiet()
	_, differences := d.recountByScan()
	require.NotEmpty(d, differences, "what was put aside is missing")
	d.doom.set(func(f *fates) { f.refused = "" })
	effects.older.Store(0)
	l.mistake("TABLE_NAME", right)
	for _, name := range d.parked("") {
		var object struct {
			Record  json.RawMessage
			Payload string
		}
		require.NoError(d, json.Unmarshal([]byte(d.services.content(name)), &object))
		if object.Record != nil {
			d.redrive(d.mappingOf("projections").target, `{"Records":[`+string(object.Record)+`]}`)
		} else {
			d.redrive(effects.target, object.Payload)
		}
	}
}

// redrive calls a reader until it has finished all records.
func (d *deployed) redrive(target, payload string) {
	d.Helper()
	d.await("a redrive succeeds", func() bool {
		o := d.invoke(target, []byte(payload))
		return o.failure == nil && string(o.body) == `{"batchItemFailures":[]}`
	})
}

// parked returns the names of objects in the bucket for parked records.
func (d *deployed) parked(prefix string) (names []string) {
	for _, name := range d.services.stored() {
		if strings.HasPrefix(name, parking+"/"+prefix) {
			names = append(names, name)
		}
	}
	return names
}

func (d *deployed) mappingOf(program string) *mapping {
	d.Helper()
	for _, m := range d.mappings {
		if strings.HasPrefix(m.text("FunctionName"), prefixOfFunctions+program+":") {
			return m
		}
	}
	require.Fail(d, "no mapping", program)
	return nil
}

// report says what the run showed, and holds it against what it was to show.
func (d *deployed) report() {
	d.Helper()
	require.Empty(d, d.kept, "queues of what failed")
	d.doom.set(func(f *fates) {
		d.Logf("killed: %v; failed: %v", f.killed, f.failed)
		died := 0
		for _, n := range f.killed {
			died += n
		}
		require.Equal(d, kills*len(victims)+deaths, died)
		require.Equal(d, deaths, f.killed["deliver"])
	})
	for name, l := range d.lambdas {
		if name == canaryFunction {
			continue
		}
		require.Positive(d, l.started, "%s was never called", name)
		d.Logf("%s: %d environments, %d at once", name, l.started, l.most)
	}
	require.GreaterOrEqual(d, d.lambdas[prefixOfFunctions+"effects"].most, 3)
	unused, all := d.rights.unused()
	d.Logf("of %d rights these were not used:", all)
	for _, right := range unused {
		d.Logf("  %s", strings.ReplaceAll(right, d.tableName, "TABLE"))
	}
}
