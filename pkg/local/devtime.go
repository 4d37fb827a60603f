package local

import (
	"context"
	"net/http"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/item"
)

// maxRedeliveries bounds how often one request delivers the records again.
const maxRedeliveries = 10

// clockShown is GET /dev/clock.
type clockShown struct {
	Now     time.Time `json:"now"`
	Offset  string    `json:"offset"`  // ahead of the machine's clock, a Go duration
	Movable bool      `json:"movable"` // false with --endpoint
}

func (p *Platform) clockShown() clockShown {
	return clockShown{p.clock.Now().Truncate(time.Second), p.clock.Offset().String(), p.backend.sweep != nil}
}

func (p *Platform) getClock(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, p.clockShown())
}

// postClock moves the clock and answers when all effects on the way are done.
func (p *Platform) postClock(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Advance string `json:"advance"`
		Set     string `json:"set"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	if (body.Advance == "") == (body.Set == "") {
		return refusal(http.StatusUnprocessableEntity, "exactly one of advance and set is wanted")
	}
	set, err := item.ParseInstant(body.Set)
	if body.Set != "" && err != nil {
		return refusal(http.StatusUnprocessableEntity, "set: %v", err)
	}
	target := func() time.Time { return set }
	if body.Advance != "" {
		by, err := time.ParseDuration(body.Advance)
		if err != nil || by <= 0 {
			return refusal(http.StatusUnprocessableEntity, "advance %q is no duration above zero such as 90s, 15m or 25h",
				body.Advance)
		}
		target = func() time.Time { return p.clock.Now().Add(by) }
	}
	m, err := p.moveTo(r.Context(), target)
	if err != nil {
		return err
	}
	return answer(w, struct {
		clockShown
		Steps int   `json:"steps"`
		Fired int64 `json:"fired"`
		Swept int64 `json:"swept"`
	}{p.clockShown(), m.steps, m.fired, m.swept})
}

func (p *Platform) postSettle(w http.ResponseWriter, r *http.Request) error {
	if err := readBody(r, &struct{}{}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), p.options.Settling)
	defer cancel()
	before := p.carriedOut()
	if err := p.WaitUntilIdle(ctx); err != nil {
		return err
	}
	did := p.carriedOut().since(before)
	return answer(w, struct {
		Settled bool      `json:"settled"`
		Now     time.Time `json:"now"`
		Fired   int64     `json:"fired"`
		Swept   int64     `json:"swept"`
	}{true, p.clock.Now().Truncate(time.Second), did.fired, did.swept})
}

// postRedeliver delivers recorded records to consumers again. It moves no checkpoint.
func (p *Platform) postRedeliver(w http.ResponseWriter, r *http.Request) error {
	body := struct {
		Consumer string `json:"consumer"`
		Times    int    `json:"times"`
		From     string `json:"from"`
	}{Times: 1}
	if err := readBody(r, &body); err != nil {
		return err
	}
	if body.Times < 1 || body.Times > maxRedeliveries {
		return refusal(http.StatusUnprocessableEntity, "times has to be 1 to %d", maxRedeliveries)
	}
	from := body.From
	switch {
	case from == "start":
		from = ""
	case !change.IsSequence(from):
		return refusal(http.StatusUnprocessableEntity,
			"from has to be \"start\" or a SequenceNumber as GET /dev/stream shows it")
	}
	delivered := map[string]int{}
	for _, reader := range p.readers {
		if !reader.has(body.Consumer) {
			continue
		}
		done := p.others.begin()
		n, err := reader.redeliver(r.Context(), body.Consumer, from, body.Times)
		done()
		if err != nil {
			return err
		}
		delivered[reader.mapping.Config().Name] = n
	}
	if len(delivered) == 0 {
		return refusal(http.StatusUnprocessableEntity, "there is no consumer %.40q", body.Consumer)
	}
	return answer(w, struct {
		Delivered map[string]int `json:"delivered"` // by reader, repetitions counted
	}{delivered})
}
