package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/calendar"
)

const (
	// maxTries bounds how often a request is made while the service asks to try again.
	maxTries = 5
	// maxPause bounds the wait that it may ask for.
	maxPause = time.Minute
	// maxCalendarBytes bounds the bytes of an answer that are read.
	maxCalendarBytes = 64 << 20
)

// calendarServer is a client of a Nexus API that exchanges iCalendar texts.
type calendarServer struct {
	base, token string
	http        *http.Client
}

func newCalendarServer(base, token string) *calendarServer {
	return &calendarServer{
		strings.TrimRight(base, "/"), token, &http.Client{Transport: &http.Transport{}, Timeout: callTimeout},
	}
}

func (s *calendarServer) close() { s.http.CloseIdleConnections() }

// send imports one text.
func (s *calendarServer) send(ctx context.Context, text []byte) (calendar.Report, error) {
	var report calendar.Report
	content, _, err := s.call(ctx, http.MethodPost, "/v1/calendar/import", text)
	if err != nil {
		return report, err
	}
	if err := json.Unmarshal(content, &report); err != nil {
		return report, fmt.Errorf("the answer is no report: %w", err)
	}
	return report, nil
}

// part reads one part of the calendar and returns the number of parts.
func (s *calendarServer) part(ctx context.Context, n int) (text []byte, parts int, err error) {
	content, header, err := s.call(ctx, http.MethodGet, "/v1/calendar.ics?part="+strconv.Itoa(n), nil)
	if err != nil {
		return nil, 0, err
	}
	parts, err = strconv.Atoi(header.Get("Nexus-Calendar-Parts"))
	if err != nil || parts < 1 {
		return nil, 0, errors.New("the answer does not say how many parts there are")
	}
	return content, parts, nil
}

// call makes a request and repeats it while the service asks for it: both kinds are harmless to repeat.
func (s *calendarServer) call(ctx context.Context, method, path string, body []byte) ([]byte, http.Header, error) {
	for try := 1; ; try++ {
		got, err := s.once(ctx, method, path, body)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("%s %s: %w", method, path, err)
		case got.status == http.StatusOK:
			return got.content, got.header, nil
		case got.status != http.StatusServiceUnavailable && got.status != http.StatusTooManyRequests || try == maxTries:
			return nil, nil, fmt.Errorf("%s %s: %s", method, path, got.problem())
		}
		seconds, _ := strconv.Atoi(got.header.Get("Retry-After"))
		pause := time.NewTimer(min(maxPause, time.Duration(max(1, seconds))*time.Second))
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil, nil, ctx.Err()
		case <-pause.C:
		}
	}
}

// received is an answer, read.
type received struct {
	status  int
	header  http.Header
	content []byte
}

func (s *calendarServer) once(ctx context.Context, method, path string, body []byte) (received, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return received{}, err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	if body != nil {
		request.Header.Set("Content-Type", "text/calendar; charset=utf-8")
	}
	response, err := s.http.Do(request)
	if err != nil {
		return received{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxCalendarBytes))
	return received{response.StatusCode, response.Header, content}, err
}

// problem returns the text of a problem document, or the status of any other answer.
func (r received) problem() string {
	var problem struct{ Title, Detail string }
	if err := json.Unmarshal(r.content, &problem); err != nil || problem.Title == "" {
		return fmt.Sprintf("%d %s", r.status, http.StatusText(r.status))
	}
	return problem.Title + ": " + problem.Detail
}

// progress is a bar on a terminal, for work of several requests.
type progress struct {
	to    io.Writer // nil without a terminal
	name  string
	shown bool
}

func newProgress(messages io.Writer, name string) *progress {
	p := &progress{name: name}
	if file, ok := messages.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.to = messages
		}
	}
	return p
}

// show draws the progress.
func (p *progress) show(done, of int) {
	const width = 30
	if p.to == nil || of < 2 {
		return
	}
	p.shown = true
	full := width * done / of
	fmt.Fprintf(p.to, "\r%s [%s%s] %d/%d", p.name, strings.Repeat("#", full), strings.Repeat(".", width-full), done, of)
}

// end removes the bar.
func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
