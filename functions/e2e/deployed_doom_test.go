package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"nexus/internal/wiretest"
)

// fates decides what the requests of the functions suffer, and which environments are killed at one. A program that was
// killed sends nothing more.
type fates struct {
	mu     sync.Mutex
	chance *rand.Rand
	places map[string]*place
	dead   map[string]bool
	kills  map[string]int // by program, how many are left
	killed map[string]int
	// faulty is how many in a thousand requests fail; hanging names the service that never answers.
	faulty  int
	hanging string
	failed  map[string]int
	// refused is a text that lets the table refuse for good each write which has it.
	refused string
}

func newFates(seed uint64) *fates {
	return &fates{
		chance: rand.New(rand.NewPCG(seed, 9)), places: map[string]*place{}, dead: map[string]bool{},
		kills: map[string]int{}, killed: map[string]int{}, failed: map[string]int{},
	}
}

func (f *fates) born(p *place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.places[p.id] = p
}

func (f *fates) gone(p *place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.places, p.id)
}

func (f *fates) fallen(p *place) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead[p.id]
}

// set changes what is to happen from now on.
func (f *fates) set(change func(*fates)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// inOneOf is how seldom a request is the one at which its environment is killed.
const inOneOf = 8

// strike returns the environment that is to be killed at the request, and whether the request is carried out.
func (f *fates) strike(r *http.Request) (victim *place, carryOut bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.places[r.Header.Get("X-Amz-Security-Token")]
	if p == nil || f.dead[p.id] {
		return nil, false
	}
	program := filepath.Base(p.command.Path)
	if f.kills[program] == 0 || f.chance.IntN(inOneOf) > 0 {
		return nil, false
	}
	f.kills[program]--
	f.dead[p.id] = true
	f.killed[program]++
	return p, f.chance.IntN(2) == 0
}

// before returns a handler that kills, in front of one that may fail in front of the service.
func (f *fates) before(d *deployed, service wiretest.Service, next http.Handler) http.Handler {
	network := wiretest.NewNetwork(d.T, service, next)
	network.Choose(func(r *http.Request, o wiretest.Operation) *wiretest.Fault { return f.choose(service.Name, o) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.refuses(r) {
			service.Refuse(w, wiretest.Refusal{Status: http.StatusBadRequest, Code: "ValidationException"})
			return
		}
		victim, carryOut := f.strike(r)
		if victim == nil {
			network.ServeHTTP(w, r)
			return
		}
		if carryOut {
			next.ServeHTTP(httptest.NewRecorder(), r)
		}
		victim.kill()
		panic(http.ErrAbortHandler)
	})
}

// refuses reports whether the table refuses a write of projections for good.
func (f *fates) refuses(r *http.Request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refused == "" || !strings.Contains(r.Header.Get("Authorization"), "Credential=projections/") {
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false // broken off
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	isWrite := slices.Contains([]string{"PutItem", "UpdateItem", "TransactWriteItems"}, operation)
	return isWrite && bytes.Contains(body, []byte(f.refused))
}

// left is how many environments of the programs are still to be killed.
func (f *fates) left(programs ...string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, program := range programs {
		n += f.kills[program]
	}
	return n
}

// silences is how many requests a service took without an answer.
func (f *fates) silences() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed["silence"]
}

func (f *fates) choose(service string, o wiretest.Operation) *wiretest.Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := wiretest.Silent()
	if f.hanging == service {
		f.failed["silence"]++
		return &fault
	}
	if f.faulty == 0 || f.chance.IntN(1000) >= f.faulty {
		return nil
	}
	repeated := slices.DeleteFunc(slices.Clone(o.Refusals), func(r wiretest.Refusal) bool { return !r.Repeated })
	kind := []string{"refusal", "reset", "lost answer", "cut answer"}[f.chance.IntN(4)]
	switch kind {
	case "refusal":
		if len(repeated) == 0 {
			return nil
		}
		refusal := repeated[f.chance.IntN(len(repeated))]
		kind = fmt.Sprintf("refusal with %d", refusal.Status)
		fault = wiretest.Refused(refusal)
	case "reset":
		fault = wiretest.Reset()
	case "lost answer":
		fault = wiretest.Lost()
	case "cut answer":
		fault = wiretest.Cut()
	}
	f.failed[kind]++
	return &fault
}
