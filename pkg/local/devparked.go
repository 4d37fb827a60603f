package local

import (
	"context"
	"encoding/json"
	"net/http"
)

// parkedShown is a parked record or a failure object.
type parkedShown struct {
	Object   string          `json:"object"`
	Consumer string          `json:"consumer"`
	User     string          `json:"user,omitempty"`
	Body     json.RawMessage `json:"body"`
}

// getParked lists the records that consumers could not process, and the batches that mappings gave up, with the content
// of the objects. With groups=true it lists how many there are for each consumer and reason.
func (p *Platform) getParked(w http.ResponseWriter, r *http.Request) error {
	limit, query, err := listParams(r, maxParkedPage, "after", "consumer", "user", "reason", "object", "groups")
	if err != nil {
		return err
	}
	filter := ParkedFilter{query.Get("consumer"), query.Get("user"), query.Get("reason"), query.Get("object")}
	if err := p.checkFilter(filter); err != nil {
		return err
	}
	switch query.Get("groups") {
	case "true":
		groups, err := p.groupParked(r.Context(), filter)
		if err != nil {
			return err
		}
		return answer(w, listed[*ParkedGroup]{Items: append([]*ParkedGroup{}, groups...)})
	case "", "false":
	default:
		return refusal(http.StatusUnprocessableEntity, "groups is true or false")
	}
	out := listed[parkedShown]{Items: []parkedShown{}}
	err = p.eachParked(r.Context(), filter, query.Get("after"), func(o parkedObject) (bool, error) {
		if len(out.Items) == limit {
			out.Next = out.Items[limit-1].Object
			return false, nil
		}
		body := json.RawMessage(o.Body)
		if !json.Valid(body) {
			body = line(string(o.Body))
		}
		out.Items = append(out.Items, parkedShown{o.Name, o.Consumer, o.User, body})
		return true, nil
	})
	if err != nil {
		return err
	}
	return answer(w, out)
}

// postRedrive delivers what matches again, or with dryRun tells what that would do. It answers with a line of JSON for
// each object, and ends when its client disconnects: what is done is deleted, so that the next one goes on.
func (p *Platform) postRedrive(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Filter ParkedFilter `json:"filter"`
		DryRun bool         `json:"dryRun"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	if err := p.checkFilter(body.Filter); err != nil {
		return err
	}
	feeder := p.feeder()
	feeder.Parking = p.watchedBlobs()
	return p.answerEach(w, r, body.Filter, body.DryRun, func(ctx context.Context, o parkedObject) (RedrivenObject, error) {
		if body.DryRun {
			return p.try(ctx, o)
		}
		return p.redrive(ctx, feeder, o)
	})
}

// postDiscard deletes what matches, if it is as many as the count says.
func (p *Platform) postDiscard(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Filter ParkedFilter `json:"filter"`
		Count  int          `json:"count"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	if err := p.checkFilter(body.Filter); err != nil {
		return err
	}
	count := 0
	err := p.eachParked(r.Context(), body.Filter, "", func(parkedObject) (bool, error) { count++; return true, nil })
	if err != nil {
		return err
	}
	if count != body.Count {
		return errCount(body.Count, count)
	}
	return p.answerEach(w, r, body.Filter, false, func(ctx context.Context, o parkedObject) (RedrivenObject, error) {
		told := RedrivenObject{Name: o.Name, Consumer: o.Consumer, User: o.User, Outcome: "discarded"}
		return told, p.watchedBlobs().Delete(ctx, o.Name)
	})
}

// answerEach does something with each object that matches, and tells what became of it.
func (p *Platform) answerEach(w http.ResponseWriter, r *http.Request, f ParkedFilter, dry bool,
	do func(context.Context, parkedObject) (RedrivenObject, error),
) error {
	ctx, cancel := p.whileRunning(r.Context())
	defer cancel()
	tell := linesTo[Redriven](w)
	sum := RedrivenSummary{DryRun: dry}
	err := p.eachParked(ctx, f, "", func(o parkedObject) (bool, error) {
		told, err := do(ctx, o)
		if err != nil {
			return false, err
		}
		sum.add(told.Outcome)
		return true, tell(Redriven{Object: &told})
	})
	last := Redriven{Summary: &sum}
	if err != nil {
		p.log.Error("parked records: ended early", "error", err)
		last = Redriven{Error: err.Error()}
	}
	_ = tell(last) // the client may have disconnected
	return nil
}

// whileRunning returns a context that also ends with the platform.
func (p *Platform) whileRunning(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-p.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); <-watched }
}
