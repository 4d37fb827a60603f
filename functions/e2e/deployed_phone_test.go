package e2e_test

import (
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deliver"
)

// deaths are how many environments of deliver are killed while it tells the phone. Lambda makes one attempt more.
const deaths = 2

// registerPhone registers the phone as the device of a user. Its push service refuses for now: what rings is put off.
func (d *deployed) registerPhone(p *person) {
	d.Helper()
	key := p.must(http.MethodGet, "/v1/me/devices/key", -1, nil)
	require.Equal(d, pushKey().Public(), key["key"])
	d.phone.answers(http.StatusServiceUnavailable, 61)
	p.must(http.MethodPut, "/v1/me/devices/"+deviceID, -1, d.phone.registration())
	items := p.must(http.MethodGet, "/v1/me/devices", -1, nil)["items"].([]any)
	require.Len(d, items, 1)
}

// ringPhone waits until what rings was put off, has the schedule called, and takes the action of what the phone shows.
func (d *deployed) ringPhone(p *person, ringing *thing) {
	d.Helper()
	var name string
	var put scheduled
	d.await("the push service's refusal has its schedule", func() bool {
		for each, s := range d.services.waiting() {
			if strings.HasPrefix(each, deliver.SchedulePrefix) {
				name, put = each, s
			}
		}
		return name != ""
	})
	require.Contains(d, put.Target.Arn, prefixOfFunctions+"deliver:", "its target is deliver itself")
	d.phone.answers(http.StatusCreated, 0)
	d.doom.set(func(f *fates) { f.kills["deliver"] = deaths })
	d.await("the phone shows it", func() bool { return len(d.phone.got()) > 0 })
	shown := d.phone.got()
	require.Len(d, shown, 1)
	require.Equal(d, ringing.id, shown[0]["itemId"])
	d.await("the kills are over", func() bool {
		if d.doom.left("deliver") == 0 {
			return true
		}
		for _, e := range d.services.events("ReminderDue") { // the bus gives an event at least once
			d.announce(e)
		}
		d.pause(betweenReads)
		return false
	})
	act := shown[0]["act"].(string)
	for range 2 {
		a := d.ask(bearer{}, http.MethodPost, act, `{"action":"complete"}`, nil)
		require.Equal(d, http.StatusNoContent, a.StatusCode, a.Body)
	}
	got := p.must(http.MethodGet, ringing.path(), -1, nil)
	require.Equal(d, "COMPLETED", got["status"])
	d.await("what is done has no schedule", func() bool { return d.services.waiting()[name].GroupName == "" })
	require.Len(d, d.phone.got(), 1)

	tested := p.must(http.MethodPost, "/v1/me/devices/"+deviceID+"/test", -1, nil)["deliveryId"]
	d.await("the phone shows the test", func() bool { return len(d.phone.got()) == 2 })
	require.Equal(d, tested, d.phone.got()[1]["deliveryId"])
}
