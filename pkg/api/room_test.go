package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"nexus/pkg/api"
	"nexus/pkg/entity"
	"nexus/pkg/limit"
	"nexus/pkg/table/memory"
)

// Below 80 percent an instance that draws so asks once in a minute, from there on each time.
func TestRoom_asksSeldomUntilItIsNear(t *testing.T) {
	t.Parallel()
	b := limited(t, always, map[string]int{limit.Notes: 1000})
	asked := 0
	b.failWith(func(c memory.Call) error {
		if c.Op == "Peek" && c.Stage == memory.Before && c.Keys[0] == entity.MetaKey("ann") {
			asked++
		}
		return nil
	})
	create := func() {
		b.Equal(http.StatusCreated, b.do(request{method: "POST", path: "/v1/notes", body: `{"title":"x"}`}).Code)
	}
	b.counted(map[string]int{"totalNotes": 790})
	create()
	create()
	b.Equal(1, asked)
	b.counted(map[string]int{"totalNotes": 800})
	b.advance(time.Minute)
	create()
	create()
	b.Equal(3, asked)
}

// drawing returns a surface with a number of notes, and its draw, which a test may change.
func drawing(t *testing.T, notes int) (b *fixture, draw *float64) {
	t.Helper()
	stage, err := limit.Default().With(map[string]int{limit.Notes: notes})
	if err != nil {
		t.Fatal(err)
	}
	now := never
	return setup(t, func(c *api.Config) {
		c.Limits = limit.Config{Numbers: stage, Draw: func() float64 { return now }}
	}), &now
}

func TestRoom_asksForOneUseInTenUntilItIsNear(t *testing.T) {
	t.Parallel()
	b, draw := drawing(t, 1000)
	create := func() response { return b.do(request{method: "POST", path: "/v1/notes", body: `{"title":"x"}`}) }
	b.counted(map[string]int{"totalNotes": 1000})
	b.Equal(http.StatusCreated, create().Code, "no request has asked yet")
	*draw = always
	b.full(create(), "quota-reached", limit.Notes, 1000, 1000)
	*draw = never
	b.advance(2 * time.Minute)
	b.full(create(), "quota-reached", limit.Notes, 1000, 1000) // who was near is asked about each time
}

func TestRoom_asksEachTimeOfASmallNumber(t *testing.T) {
	t.Parallel()
	b, _ := drawing(t, 999)
	create := func() response { return b.do(request{method: "POST", path: "/v1/notes", body: `{"title":"x"}`}) }
	for _, n := range []int{0, 798, 998} {
		b.counted(map[string]int{"totalNotes": n})
		b.Equal(http.StatusCreated, create().Code)
	}
	b.counted(map[string]int{"totalNotes": 999})
	b.full(create(), "quota-reached", limit.Notes, 999, 999)
}

func TestRoom_letsNoMoreThanAHundredPassUnasked(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]float64{"without an answer": never, "by an answer of this minute": always} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, draw := drawing(t, 1000)
			create := func() response { return b.do(request{method: "POST", path: "/v1/notes", body: `{"title":"x"}`}) }
			if *draw = first; first == always {
				b.Equal(http.StatusCreated, create().Code)
			}
			*draw = never
			b.counted(map[string]int{"totalNotes": 1000})
			for range 100 {
				b.Equal(http.StatusCreated, create().Code)
			}
			b.full(create(), "quota-reached", limit.Notes, 1000, 1000)
		})
	}
}

func TestRoom_asksForAnImportOfMoreThanAHundredComponents(t *testing.T) {
	t.Parallel()
	b := limited(t, never, map[string]int{limit.Content: 1000})
	send := func(components int) response {
		text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n"
		for n := range components {
			text += fmt.Sprintf("BEGIN:VEVENT\r\nUID:%d@example.com\r\nDTSTAMP:20260301T120000Z\r\n"+
				"DTSTART:20260310T090000Z\r\nEND:VEVENT\r\n", n)
		}
		return b.do(request{method: "POST", path: "/v1/calendar/import", body: text + "END:VCALENDAR\r\n",
			header: map[string]string{"Content-Type": "text/calendar"}})
	}
	b.counted(map[string]int{"totalEvents": 1000})
	b.Equal(http.StatusOK, send(99).Code)
	b.Equal(http.StatusOK, send(1).Code)
	b.full(send(1), "quota-reached", limit.Content, 1000, 1000)
}
