package replay_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/product"
	"nexus/pkg/replay"
	"nexus/pkg/system"
	"nexus/pkg/table"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// quietRounds bounds how often consumers and scheduler take turns before all is quiet.
const quietRounds = 50

// play is one run of a script: the system, its stream, and how far each consumer has come.
type play struct {
	t      *testing.T
	v      variation
	system *replay.System
	api    http.Handler
	feed   map[string]string // by shard: the last record read
	log    []json.RawMessage
	at     map[string]int // by consumer: how much of the log is acknowledged
	user   string
	ids    int
	writes int // sent, for their idempotency keys

	atWork  bool // what is called now is called by a consumer or the notifier
	effects int  // writing calls they made
	dead    bool // from here to the end of the present work everything fails: the process is gone
	crashed bool // the variation's crash has taken place
	faults  []*fault
	poison  map[string]string // by item id: the consumer that refuses it
}

// fault is a call that fails.
type fault struct {
	port  string
	nth   int
	after bool
}

func newPlay(t *testing.T, v variation) *play {
	p := &play{t: t, v: v, feed: map[string]string{}, at: map[string]int{}, user: "u1", poison: map[string]string{}}
	registry := product.Registry()
	p.system = replay.NewSystem(replay.Config{Registry: registry, Begin: noon, Around: p.around})
	for _, r := range p.system.Feeder.Readers {
		for i, c := range r.Consumers {
			r.Consumers[i] = refusing(c, p)
		}
	}
	served, err := system.New(registry, system.Ports{
		Store: func(string) table.Store { return p.system.Store }, Now: p.system.Now, Copies: p.system.Copies,
		NewID: p.newID, NewRevisionID: p.newID, Random: rand.Reader,
		Pause: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(t, err)
	p.api = served.API(api.Config{Authenticate: api.BearerIsUser, Now: p.system.Now})
	return p
}

func (p *play) newID() string {
	p.ids++
	return uuidOf(1_000_000 + p.ids)
}

func uuidOf(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// around is asked about every call of a port.
func (p *play) around(c replay.Call) error {
	if !p.atWork {
		return nil
	}
	if p.dead {
		return errCrash
	}
	if c.Writes {
		if !c.After {
			p.effects++
		}
		if !p.crashed && p.effects == p.v.crashAt && c.After == p.v.crashAfter {
			p.dead, p.crashed = true, true
			return errCrash
		}
	}
	for _, f := range p.faults {
		if f.port != c.Port || !c.Writes || f.nth <= 0 {
			continue
		}
		if !c.After {
			f.nth--
		}
		if f.nth == 0 && f.after == c.After {
			f.nth = -1
			return errFault
		}
	}
	return nil
}

var (
	errCrash = fmt.Errorf("the process is gone")
	errFault = fmt.Errorf("a fault of the script")
)

// work runs something as a process that may crash, and says whether it did.
func (p *play) work(do func()) (crashed bool) {
	p.atWork = true
	do()
	crashed, p.atWork, p.dead = p.dead, false, false
	return crashed
}

// read takes in what was written to the stream.
func (p *play) read() {
	shards, err := p.system.Store.Feed().Shards(p.t.Context())
	require.NoError(p.t, err)
	for _, shard := range shards {
		for {
			slice, err := p.system.Store.Feed().Read(p.t.Context(), shard.ID, p.feed[shard.ID], 1000)
			require.NoError(p.t, err)
			for _, r := range slice.Records {
				p.feed[shard.ID] = r.Sequence
				if passes(r) {
					p.log = append(p.log, change.AppendRecord(nil, r))
				}
			}
			if len(slice.Records) == 0 {
				break
			}
		}
	}
}

// write sends commands, one a line: Type[@version] {data}.
func (p *play) write(lines string) string {
	var out strings.Builder
	for line := range strings.Lines(lines) {
		name, data, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, version, hasVersion := strings.Cut(name, "@")
		p.writes++
		one := fmt.Sprintf(`{"id":"w%d","type":%q,"data":%s`, p.writes, name, expand(data))
		if hasVersion {
			one += `,"expectedVersion":` + version
		}
		request := httptest.NewRequest(http.MethodPost, "/v1/commands", strings.NewReader(`{"commands":[`+one+`}]}`))
		request.Header.Set("Authorization", "Bearer "+p.user)
		request.Header.Set("Content-Type", "application/json")
		response := httptest.NewRecorder()
		p.api.ServeHTTP(response, request)
		fmt.Fprintln(&out, shortAnswer(p.t, response.Body.Bytes()))
	}
	return out.String()
}

// expand writes #7 as the UUID that ends in 7.
func expand(data string) string {
	parts := strings.Split(data, "#")
	for i := 1; i < len(parts); i++ {
		digits := len(parts[i]) - len(strings.TrimLeft(parts[i], "0123456789"))
		n, err := strconv.Atoi(parts[i][:digits])
		if err != nil {
			parts[i] = "#" + parts[i]
			continue
		}
		parts[i] = uuidOf(n) + parts[i][digits:]
	}
	return strings.Join(parts, "")
}

// shorten is the inverse, for what is printed.
func shorten(text string) string {
	const head = "00000000-0000-4000-8000-"
	parts := strings.Split(text, head)
	for i := 1; i < len(parts); i++ {
		n, err := strconv.Atoi(parts[i][:12])
		if err != nil {
			parts[i] = head + parts[i]
			continue
		}
		parts[i] = fmt.Sprintf("#%d%s", n, parts[i][12:])
	}
	return strings.Join(parts, "")
}

func shortAnswer(t *testing.T, body []byte) string {
	var said struct {
		Results []struct {
			Status  int
			Entity  map[string]any
			Problem json.RawMessage
		}
		Detail string
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&said), "%s", body)
	if len(said.Results) != 1 {
		return "refused: " + said.Detail
	}
	r := said.Results[0]
	if r.Problem != nil {
		return fmt.Sprintf("%d %s", r.Status, shorten(string(r.Problem)))
	}
	out := fmt.Sprint(r.Status)
	for _, name := range []string{"ended", "following"} {
		if nested, ok := r.Entity[name].(map[string]any); ok {
			out += shortEntity(nested)
		}
	}
	return out + shortEntity(r.Entity)
}

func shortEntity(e map[string]any) string {
	for _, name := range []string{"instanceId", "masterId", "eventId", "taskId", "reminderId", "noteId"} {
		if id, ok := e[name].(string); ok {
			return shorten(fmt.Sprintf(" %s version %v", id, e["version"]))
		}
	}
	if v, ok := e["version"]; ok {
		return fmt.Sprintf(" version %v", v)
	}
	return ""
}

// deliver brings what a consumer has not acknowledged to it, from the place on until all is done. It returns how much
// that was.
func (p *play) deliver(consumer string, dup int) (records int, troubles string) {
	p.read()
	feeder, err := p.system.Feeder.Only(consumer)
	require.NoError(p.t, err)
	var said strings.Builder
	for p.at[consumer] < len(p.log) {
		from := p.at[consumer]
		to := p.v.cutBehind(from, len(p.log))
		for range dup {
			p.bring(feeder, p.v.doubled(p.log[from:to]), &said)
			p.read()
		}
		p.at[consumer] = to
		records += to - from
	}
	return records, said.String()
}

// bring delivers a batch until the process that got it has answered.
func (p *play) bring(feeder replay.Feeder, batch []json.RawMessage, said *strings.Builder) {
	for {
		var reports []replay.Report
		var err error
		if p.work(func() { reports, err = feeder.Feed(p.t.Context(), batch) }) {
			continue
		}
		require.NoError(p.t, err)
		for _, r := range reports {
			for _, trouble := range r.Troubles {
				require.Equal(p.t, "parked", trouble.Outcome, "%v", trouble)
				fmt.Fprintf(said, "%s: parked %s: %s\n", r.Consumer, shorten(trouble.Key), trouble.Reason)
			}
		}
		return
	}
}

// fire makes the calls that are due until none is.
func (p *play) fire() int {
	sum := 0
	for range quietRounds {
		var calls int
		var err error
		crashed := p.work(func() { calls, err = p.system.Fire(p.t.Context()) })
		sum += calls
		if !crashed && err == nil {
			return sum
		}
	}
	require.Fail(p.t, "the scheduler's calls keep failing")
	return sum
}

// pass lets time go by: what falls due is called when it does, and what comes of it is settled before anything else
// falls due.
func (p *play) pass(until time.Time) string {
	var said strings.Builder
	calls := 0
	for {
		said.WriteString(p.runUntilIdle())
		next := until
		for _, one := range p.system.View().Schedules[:min(1, len(p.system.View().Schedules))] {
			if one.At.Before(next) {
				next = one.At
			}
		}
		p.system.MoveTo(next)
		calls += p.fire()
		if next.Equal(until) {
			fmt.Fprintf(&said, "%d calls until %s\n", calls, p.system.Now().Format(time.RFC3339))
			return said.String()
		}
	}
}

// runUntilIdle lets everybody work until nothing is left to do.
func (p *play) runUntilIdle() string {
	var said strings.Builder
	for range quietRounds {
		moved := 0
		for _, consumer := range p.v.order() {
			records, troubles := p.deliver(consumer, 1)
			said.WriteString(troubles)
			moved += records
		}
		if moved += p.fire(); moved == 0 {
			return said.String()
		}
	}
	require.Fail(p.t, "nothing settles")
	return ""
}

// redrive brings what is parked to the consumers that parked it, and removes it.
func (p *play) redrive() string {
	names, err := p.system.Parking.List(p.t.Context(), consume.ParkedPrefix, 1000, "")
	require.NoError(p.t, err)
	p.poison = map[string]string{}
	var said strings.Builder
	for _, name := range names {
		body, err := p.system.Parking.Get(p.t.Context(), name)
		require.NoError(p.t, err)
		parked, err := consume.ReadParked(body)
		require.NoError(p.t, err)
		records, err := consume.Records(body)
		require.NoError(p.t, err)
		feeder, err := p.system.Feeder.Only(parked.Consumer)
		require.NoError(p.t, err)
		require.NoError(p.t, p.system.Parking.Delete(p.t.Context(), name))
		p.bring(feeder, records, &said)
	}
	fmt.Fprintf(&said, "%d parked records\n", len(names))
	return said.String()
}

func (p *play) state() string {
	state, err := p.system.View().State(p.t.Context())
	require.NoError(p.t, err)
	return shorten(state.String())
}
