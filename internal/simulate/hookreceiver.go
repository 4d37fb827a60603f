package simulate

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// receiver answers the requests to an address of a webhook.
type receiver struct {
	name   hookName
	answer int // 0 for none
}

// answersOfReceivers are those that a receiver may give.
var answersOfReceivers = []int{200, 200, 204, 204, 202, 500, 503, 429, 404, 301, 410, 0}

// turn has a receiver give another answer. One that is gone stays so.
func (r *receiver) turn(luck *seededRand) {
	if r.answer != http.StatusGone {
		r.answer = pick(luck, answersOfReceivers...)
	}
}

// Do implements [webhook.Client]: it is the receiver of all endpoints.
func (k *hooks) Do(request *http.Request) (*http.Response, error) {
	h := k.h
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	begun := h.now
	f := h.call("receiver", "request")
	to := k.receivers[request.URL.String()]
	if to == nil { // the judge says what is wrong with the address
		to = &receiver{answer: http.StatusNotFound}
	}
	at, refused := k.connect(request.URL, to.name)
	sent := h.watch.request(request, body, begun, at)
	if h.violation != nil {
		return nil, errNoAnswer
	}
	if refused != nil {
		h.after(f)
		h.watch.answer(sent, 0, "")
		return nil, refused
	}
	status := to.answer
	if h.settling && status != http.StatusGone {
		status = http.StatusNoContent
	}
	h.happened[fmt.Sprintf("webhook answered %d", status)]++
	h.after(f)
	if f == failBefore || f == failAfter {
		status = 0
	}
	header := http.Header{}
	if status == http.StatusTooManyRequests && h.luck.one(2) {
		header.Set("Retry-After", strconv.Itoa(1+h.luck.IntN(7200)))
	}
	h.watch.answer(sent, status, header.Get("Retry-After"))
	if status == 0 {
		return nil, errNoAnswer
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(nil))}, nil
}
