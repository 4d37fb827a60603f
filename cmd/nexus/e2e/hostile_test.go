package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// maxResident bounds the memory of the process under everything that hostile clients send here, in bytes.
const maxResident = 200 << 20

// attack is a request that no honest client makes, and the status it is refused with.
type attack struct {
	name, method, path string
	body               []byte
	header             http.Header // instead of the usual ones where it has them
	status             int
}

func jsonAttack(name, method, path, body string, status int) attack {
	return attack{name: name, method: method, path: path, body: []byte(body), status: status}
}

// attacks are made by one user on an entity of their own.
func attacks(task string) []attack {
	deep := strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)
	list := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	const tasks, patch, post = "/v1/tasks", http.MethodPatch, http.MethodPost
	one := tasks + "/" + task
	out := []attack{
		jsonAttack("nested 10,000 deep", post, tasks, `{"title":`+deep+`}`, 400),
		jsonAttack("lists 10,000 deep", post, tasks, `{"title":"t","tags":`+list+`}`, 400),
		jsonAttack("10 MB in a field", post, tasks, `{"title":"`+strings.Repeat("x", 10<<20)+`"}`, 413),
		jsonAttack("10 MB of members", post, tasks, `{`+strings.Repeat(`"a":1,`, 10<<20/6)+`"b":1}`, 413),
		jsonAttack("10 MB of commands", post, "/v1/commands", `{"commands":[`+strings.Repeat("{},", 10<<20/3)+`{}]}`, 413),
		jsonAttack("4 MB of nodes", post, "/v1/values/revisions",
			`{"edges":[],"nodes":[`+strings.Repeat("{},", 4<<20/3-10)+`{}]}`, 413),
		jsonAttack("240,000 nodes", post, "/v1/values/revisions",
			`{"edges":[],"nodes":[`+strings.Repeat("{},", 240_000)+`{}]}`, 422),
		jsonAttack("4 MB of commands", post, "/v1/commands", `{"commands":[`+strings.Repeat("{},", 4<<20/3-10)+`{}]}`, 413),
		jsonAttack("101 commands", post, "/v1/commands", `{"commands":[`+strings.Repeat("{},", 100)+`{}]}`, 422),
		jsonAttack("invalid UTF-8", post, tasks, "{\"title\":\"\xff\xfe\"}", 400),
		jsonAttack("half a surrogate pair", post, tasks, `{"title":"\ud800"}`, 422),
		jsonAttack("a member twice", post, tasks, `{"title":"a","title":"b"}`, 400),
		jsonAttack("broken off", post, tasks, `{"title":"a"`, 400),
		jsonAttack("something behind it", post, tasks, `{"title":"a"} {}`, 400),
		jsonAttack("nothing", post, tasks, ``, 400),
		jsonAttack("a list", post, tasks, `[]`, 422),
		jsonAttack("wrong types", post, tasks, `{"title":1,"priority":"high","isAllDay":"no","tags":{},"links":"x"}`, 422),
		jsonAttack("a huge number", post, tasks, `{"title":"t","priority":1e999999999}`, 422),
		jsonAttack("a number of a million digits", post, tasks,
			`{"title":"t","priority":`+strings.Repeat("9", 1<<18)+`}`, 413),
		jsonAttack("a title of a megabyte's half", post, tasks, `{"title":"`+strings.Repeat("x", 200<<10)+`"}`, 422),
		jsonAttack("an impossible instant", post, tasks, `{"title":"t","dueUtc":"99999-99-99T99:99:99Z"}`, 422),
		jsonAttack("a zone that is a path", post, tasks,
			`{"title":"t","dueUtc":"2026-01-01T00:00:00Z","dueTzid":"../../etc/passwd"}`, 422),
		jsonAttack("a separator in an id", post, tasks, `{"title":"t","taskId":"task_a#b"}`, 422),
		jsonAttack("a link to nothing", post, tasks,
			`{"title":"t","links":[{"targetType":"TASK","targetId":"task_0"}]}`, 404),
		jsonAttack("a link to a row", post, tasks, `{"title":"t","links":[{"targetType":"LEDGER","targetId":"stats"}]}`, 422),
		jsonAttack("a query nobody knows", http.MethodGet, "/v1/tasks?status=BACKLOG&nope=1", "", 400),
		jsonAttack("a forged cursor", http.MethodGet, "/v1/tasks?status=BACKLOG&cursor=AAAA", "", 400),
		jsonAttack("an endless query", http.MethodGet, "/v1/tasks?status="+strings.Repeat("B", 20<<10), "", 400),
		jsonAttack("an id with a separator", http.MethodGet, tasks+"/task_%23x", "", 404),
		jsonAttack("a path out of the tree", http.MethodGet, "/v1/tasks/..%2f..%2fdev%2finfo", "", 404),
		jsonAttack("no such path", http.MethodGet, "/v2/tasks", "", 404),
		jsonAttack("no such method", http.MethodPut, tasks, `{}`, 405),
		jsonAttack("a method of one's own", "BREW", one, "", 405),
		jsonAttack("a method of /dev/", http.MethodDelete, "/dev/clock", "", 405),
		jsonAttack("10 MB to /dev/", post, "/dev/clock", `{"advance":"`+strings.Repeat("1", 10<<20)+`h"}`, 413),
		jsonAttack("time backwards", post, "/dev/clock", `{"set":"2000-01-01T00:00:00Z"}`, 422),
		jsonAttack("time beyond all bounds", post, "/dev/clock", `{"advance":"2000000h"}`, 422),
		jsonAttack("a negative advance", post, "/dev/clock", `{"advance":"-1h"}`, 422),
		jsonAttack("a billion redeliveries", post, "/dev/redeliver", `{"from":"start","times":1000000000}`, 422),
		jsonAttack("an object out of the store", http.MethodGet, "/dev/blobs/..%2f..%2fclock.json", "", 422),
		{name: "another media type", method: post, path: tasks, body: []byte(`{"title":"t"}`),
			header: http.Header{"Content-Type": {"text/plain"}}, status: 415},
		{name: "a compressed body", method: post, path: tasks, body: []byte("\x1f\x8b"),
			header: http.Header{"Content-Encoding": {"gzip"}}, status: 415},
		{name: "nobody", method: http.MethodGet, path: "/v1/me", header: http.Header{"Authorization": nil}, status: 401},
		{name: "a user with a separator", method: http.MethodGet, path: "/v1/me",
			header: http.Header{"Authorization": {"Bearer a#b"}}, status: 401},
		{name: "two users", method: http.MethodGet, path: "/v1/me",
			header: http.Header{"Authorization": {"Bearer a", "Bearer b"}}, status: 401},
		{name: "40 KB of headers", method: http.MethodGet, path: "/v1/me",
			header: http.Header{"X-Large": {strings.Repeat("x", 40<<10)}}, status: 400},
		{name: "an endless key", method: post, path: tasks, body: []byte(`{"title":"t"}`),
			header: http.Header{"Idempotency-Key": {strings.Repeat("k", 256)}}, status: 400},
		{name: "any version, twice", method: patch, path: one, body: []byte(`{"title":"x"}`),
			header: http.Header{"If-Match": {"*, *"}}, status: 400},
		{name: "no version", method: patch, path: one, body: []byte(`{"title":"x"}`), status: 428},
		{name: "another version", method: patch, path: one, body: []byte(`{"title":"x"}`),
			header: http.Header{"If-Match": {`"7"`}}, status: 412},
		{name: "a version beyond all numbers", method: patch, path: one, body: []byte(`{"title":"x"}`),
			header: http.Header{"If-Match": {`"99999999999999999999"`}}, status: 400},
	}
	for _, field := range []string{
		"PK", "SK", "GSI1PK", "GSI3SK", "ttl", "version", "createdAt", "updatedAt", "entityType", "userId", "completedAt",
		"archivedAt", "archiveAt", "dueSetAt", "statsVersion", "nope", "__proto__", "",
	} {
		for _, value := range []string{`"USER#victim"`, `1`} {
			out = append(out,
				jsonAttack(fmt.Sprintf("create with %q = %s", field, value), post, tasks,
					fmt.Sprintf(`{"title":"t",%q:%s}`, field, value), 422),
				attack{
					name: fmt.Sprintf("patch of %q = %s", field, value), method: patch, path: one, status: 422,
					body: fmt.Appendf(nil, `{%q:%s}`, field, value), header: http.Header{"If-Match": {`"1"`}},
				})
		}
	}
	return out
}

func TestDev_refusesHostileRequestsAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	c := s.client("attacker")
	task := c.create("tasks", map[string]any{"title": "target"})["taskId"].(string)
	s.waitUntilIdle()
	rows := s.scan()
	for _, a := range attacks(task) {
		t.Run(a.name, func(t *testing.T) { require.NoError(t, a.refused(t.Context(), c)) })
	}
	s.waitUntilIdle()
	require.Empty(t, changes(rows, s.scan()), "rows that hostile requests changed")
	require.Empty(t, s.parked(), "what is parked")
	require.Empty(t, s.process().errors(), "errors logged: clients' mistakes are none")
	c.do(http.StatusOK, request{method: http.MethodGet, path: "/healthz"})
}

// refused makes the attack and returns what is wrong unless it is refused with a problem document (RFC 9457) that shows
// nothing internal.
func (a attack) refused(ctx context.Context, c client) error {
	r, err := http.NewRequestWithContext(ctx, a.method, c.system.url()+a.path, bytes.NewReader(a.body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.user)
	if len(a.body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, values := range a.header {
		r.Header[name] = values
	}
	in, err := c.http.Do(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(in.Body, maxAnswer))
	if err = errors.Join(err, in.Body.Close()); err != nil {
		return err
	}
	if err := checkProblem(a.status, in, body); err != nil {
		return fmt.Errorf("%w: %d %.400s", err, in.StatusCode, body)
	}
	return nil
}

// maxProblem bounds a problem document, in bytes: it must not send back what was sent.
const maxProblem = 16 << 10

func checkProblem(status int, in *http.Response, body []byte) error {
	var problem struct {
		Type, Title, Detail string
		Status              int
	}
	switch media := in.Header.Get("Content-Type"); {
	case in.StatusCode != status:
		return fmt.Errorf("want status %d", status)
	case media != "application/problem+json":
		return fmt.Errorf("a problem of type %q", media)
	case len(body) > maxProblem:
		return fmt.Errorf("a problem of %d bytes", len(body))
	}
	if err := json.Unmarshal(body, &problem); err != nil {
		return err
	}
	if problem.Status != status || problem.Type == "" || problem.Title == "" || problem.Detail == "" {
		return errors.New("incomplete")
	}
	for _, inside := range []string{"goroutine", ".go:", "dynamodb", "DynamoDB", "nexus/pkg", "ConditionalCheck"} {
		if strings.Contains(string(body), inside) {
			return fmt.Errorf("it shows %s", inside)
		}
	}
	return nil
}

func TestDev_staysUpAndSmallUnderAFloodOfBadConnections(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	c := s.client("flooder")
	const connections, floods = 200, 24
	for n := range connections { // bodies that never come, headers that never end
		conn, err := net.Dial("tcp4", s.addr)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
		text := "POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer flooder\r\n" +
			"Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n{\"title\":"
		if n%2 == 0 {
			text = "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
		}
		_, err = io.WriteString(conn, text)
		require.NoError(t, err)
	}
	body := []byte(`{"title":"` + strings.Repeat("x", 10<<20) + `"}`)
	flood := attack{
		name: "flood", method: http.MethodPost, path: "/v1/tasks", body: body, status: http.StatusRequestEntityTooLarge,
	}
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for range floods / 8 {
				if err := flood.refused(t.Context(), c); err != nil {
					t.Errorf("flood: %v", err)
				}
			}
		})
	}
	work.Wait()
	for name, text := range map[string]string{
		"headers of 2 MB": "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Large: " + strings.Repeat("x", 2<<20) + "\r\n\r\n",
		"a header of 100 KB": "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Large: " + strings.Repeat("x", 100<<10) +
			"\r\n\r\n",
		"no HTTP":     "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
		"two lengths": "POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"a chunk too long": "POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer flooder\r\n" +
			"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n",
	} {
		status, err := s.raw(text)
		require.NoError(t, err, name)
		require.Contains(t,
			[]int{http.StatusBadRequest, http.StatusRequestHeaderFieldsTooLarge, http.StatusRequestEntityTooLarge}, status, name)
	}
	began := time.Now()
	c.do(http.StatusOK, request{method: http.MethodGet, path: "/healthz"})
	c.create("notes", map[string]any{"title": "beside the flood"})
	require.Less(t, time.Since(began), 5*time.Second, "an honest client waits")
	resident := residentBytes(t, s.process().pid)
	require.Less(t, resident, int64(maxResident), "resident memory")
	t.Logf("resident memory after %d connections and %d bodies of 10 MB: %d MB", connections, floods, resident>>20)
}

// maxPeak bounds the peak of the process's resident memory while many large bodies arrive at once, in bytes.
const maxPeak = 400 << 20

// mostEvents is how many events a file may have, less one.
const mostEvents = 999

// largeBodies are bodies of about 4 MB that are dear to read, by path. The calendar has so many events.
func largeBodies(inCalendar int) []attack {
	const bytes, values = 4 << 20, 240_000
	dense := func(member string) string {
		one := `{"a":"` + strings.Repeat("x", bytes/(values/2)-12) + `"},`
		return `{"` + member + `":[` + strings.Repeat(one, values/2-10) + `{}]}`
	}
	var notes, events strings.Builder
	for i := range 100 {
		fmt.Fprintf(&notes, `{"id":"%d","type":"CreateNote","data":{"title":"n","body":"%s"}},`, i,
			strings.Repeat("x", 32<<10))
	}
	large := strings.Repeat("x", 4100*mostEvents/inCalendar)
	for i := range inCalendar {
		fmt.Fprintf(&events, "BEGIN:VEVENT\r\nUID:%d\r\nDTSTAMP:20260301T120000Z\r\nDTSTART:20260302T100000Z\r\n"+
			"SUMMARY:%d\r\nX-LARGE:%s\r\nEND:VEVENT\r\n", i, i, large)
	}
	calendar := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x\r\n" + events.String() + "END:VCALENDAR\r\n"
	post := func(path, body string) attack { return attack{method: http.MethodPost, path: path, body: []byte(body)} }
	ics := post("/v1/calendar/import", calendar)
	ics.header = http.Header{"Content-Type": {"text/calendar"}}
	return []attack{
		post("/v1/commands", dense("commands")), post("/v1/values/revisions", dense("nodes")),
		post("/v1/commands", `{"commands":[`+strings.TrimSuffix(notes.String(), ",")+`]}`), ics,
	}
}

func TestDev_staysSmallUnderManyLargeBodiesAtOnce(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system tells no peak of memory")
	}
	s := ephemeral(t, unhurried...)
	c := s.client("large")
	patient := *c.http
	patient.Timeout *= 4 // the test is of memory: beside other tests four imports at once may take this long
	for _, a := range largeBodies(amount(t, "events in a calendar", 111, mostEvents)) {
		var statuses [600]atomic.Int64
		var work sync.WaitGroup
		for range 16 {
			work.Go(func() {
				r, err := http.NewRequestWithContext(t.Context(), a.method, s.url()+a.path, bytes.NewReader(a.body))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+c.user)
				r.Header.Set("Content-Type", "application/json")
				for name, values := range a.header {
					r.Header[name] = values
				}
				in, err := patient.Do(r)
				if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
					statuses[http.StatusServiceUnavailable].Add(1) // refused before all of the body was sent
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				_, err = io.Copy(io.Discard, in.Body)
				if err = errors.Join(err, in.Body.Close()); err != nil {
					t.Error(err)
				}
				statuses[in.StatusCode].Add(1)
				if in.StatusCode == http.StatusServiceUnavailable && in.Header.Get("Retry-After") == "" {
					t.Error("503 says when to come back")
				}
			})
		}
		work.Wait()
		seen := map[int]int64{}
		for status := range statuses {
			if n := statuses[status].Load(); n > 0 {
				seen[status] = n
			}
		}
		peak := peakBytes(t, s.process().pid)
		t.Logf("16 bodies of %d KB to %s at once: %v, peak %d MB", len(a.body)>>10, a.path, seen, peak>>20)
		require.Less(t, peak, int64(maxPeak), "resident memory")
		delete(seen, http.StatusOK)
		delete(seen, http.StatusUnprocessableEntity)
		delete(seen, http.StatusServiceUnavailable)
		require.Empty(t, seen, "each is carried out, refused for what it says, or asked to come back")
	}
}

// peakBytes is the highest that the process's resident memory has been (proc(5), VmHWM).
func peakBytes(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	require.True(t, found)
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	require.NoError(t, err)
	return kilobytes << 10
}

// slowBound is how long a request may take whose body does not come; the platform gives it ten seconds.
const slowBound = 20 * time.Second

func TestDev_refusesABodyThatDoesNotArriveInTime(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	head := "Host: localhost\r\nAuthorization: Bearer slow\r\nContent-Type: application/json\r\n"
	var work sync.WaitGroup
	for name, text := range map[string]string{
		"promised":   "POST /v1/tasks HTTP/1.1\r\n" + head + "Content-Length: 1000\r\n\r\n{\"title\":",
		"in chunks":  "POST /v1/tasks HTTP/1.1\r\n" + head + "Transfer-Encoding: chunked\r\n\r\n9\r\n{\"title\":\r\n",
		"to /dev/":   "POST /dev/clock HTTP/1.1\r\n" + head + "Content-Length: 1000\r\n\r\n{\"advance\":",
		"a megabyte": "POST /v1/commands HTTP/1.1\r\n" + head + "Content-Length: 1000000\r\n\r\n",
	} {
		work.Go(func() {
			began := time.Now()
			status, err := s.raw(text)
			if took := time.Since(began); err != nil || status != http.StatusBadRequest || took > slowBound {
				t.Errorf("%s: status %d after %s, %v", name, status, took, err)
			}
		})
	}
	work.Wait()
	s.advance(time.Hour) // a body that comes, and an answer that may take longer
}

// raw sends a text that is no proper request and returns the status of the answer.
func (s *system) raw(text string) (status int, err error) {
	conn, err := net.Dial("tcp4", s.addr)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.SetDeadline(time.Now().Add(callBound)); err != nil {
		return 0, err
	}
	_, _ = io.WriteString(conn, text) // the server may stop reading, and answers all the same
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

// residentBytes is the process's resident memory.
func residentBytes(t *testing.T, pid int) int64 {
	t.Helper()
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	require.NoError(t, err)
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	require.NoError(t, err)
	return kilobytes << 10
}
