package system_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	blobmemory "nexus/pkg/blob/memory"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/outbound"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	queuememory "nexus/pkg/queue/memory"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/verify"
	"nexus/pkg/webhook"
)

func clock() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }

func noWait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// counted is a sum of another product under the name given.
func counted(name string) *projection.Projection {
	return projection.NewOwnSum(name, "1", func(*entity.Type, item.Item) projection.Amounts {
		return projection.Amounts{}
	})
}

// allPorts are the ports of a whole system, and the parts that asked for a store, in their order.
func allPorts(t *testing.T) (p system.Ports, asked *[]string) {
	t.Helper()
	store := memory.New(clock, memory.Options{})
	schedules := schedulememory.New(nil)
	master, err := webhook.NewMaster(rand.Reader)
	require.NoError(t, err)
	asked = new([]string)
	return system.Ports{
		Store: func(part string) table.Store {
			*asked = append(*asked, part)
			return store
		},
		Now: clock, NewID: uuid.NewString, Pause: noWait, NewRevisionID: uuid.NewString, Random: rand.Reader,
		Scheduler: schedules, Bus: busmemory.New(nil), Copies: blobmemory.New(nil), Queue: queuememory.New(nil),
		Wait: noWait, Walker: store, Lister: schedules, Telling: schedules, Webhooks: &system.Webhooks{
			Client: outbound.New(outbound.Config{}), Master: master, Draw: func() float64 { return 0 },
		},
	}, asked
}

// namesOf returns the consumers of each reader.
func namesOf(s *system.System) map[string][]string {
	out := map[string][]string{}
	for _, r := range s.Readers {
		for _, c := range r.Consumers {
			out[r.Line.Name] = append(out[r.Line.Name], c.Name())
		}
	}
	return out
}

// tableOf returns the consumers of each reader as the deployment table has them, with further projections.
func tableOf(projections ...string) map[string][]string {
	out := map[string][]string{}
	for _, line := range readers.Table(product.Registry(), projections...) {
		out[line.Name] = line.Consumers
	}
	return out
}

func TestNew_givesEachPartAStoreOfItsOwn(t *testing.T) {
	t.Parallel()
	p, asked := allPorts(t)
	s, err := system.New(product.Registry(), p, counted("own"))
	require.NoError(t, err)
	slices.Sort(*asked)
	want := tableOf("own")
	require.Equal(t, want, namesOf(s))
	parts := slices.Concat(
		[]string{"api", "notify", "transfer", "verify", "walk", "webhook"}, want["projections"], want["effects"])
	slices.Sort(parts)
	require.Equal(t, parts, *asked)
	require.Equal(t, slices.Concat(s.Readers[0].Consumers, s.Readers[1].Consumers), s.Consumers)
	require.NotNil(t, s.Notifier)
	require.NotNil(t, s.Walker)
	sum, err := s.Verifier.Run(t.Context(), verify.Options{}, func(verify.Difference) error { return nil })
	require.NoError(t, err)
	require.Empty(t, sum.Unchecked)
}

func TestNew_leavesOutAPartWithoutItsPorts(t *testing.T) {
	t.Parallel()
	all := tableOf()
	projections := all["projections"]
	for _, c := range []struct {
		name    string
		without func(*system.Ports)
		missing func(*system.System) []bool // all of them
		readers map[string][]string
	}{
		{"id", func(p *system.Ports) { p.NewID = nil },
			func(s *system.System) []bool { return []bool{s.Commands == nil, s.Verifier == nil, s.Walker == nil} },
			map[string][]string{"projections": projections, "effects": {"archive"}}},
		{"queue", func(p *system.Ports) { p.Queue = nil },
			func(s *system.System) []bool {
				return []bool{s.Walker == nil, s.Notifier != nil, s.Verifier.Reminders != nil}
			},
			map[string][]string{"projections": projections, "effects": {"archive", "webhooks"}}},
		{"pause", func(p *system.Ports) { p.Pause = nil },
			func(s *system.System) []bool { return []bool{s.Commands == nil, s.Verifier != nil} }, all},
		{"random", func(p *system.Ports) { p.Random = nil },
			func(s *system.System) []bool { return []bool{s.Calendar == nil, s.Commands != nil} },
			map[string][]string{"projections": {"stats", "links", "insights"}, "effects": all["effects"]}},
		{"revision id", func(p *system.Ports) { p.NewRevisionID = nil }, func(s *system.System) []bool {
			return []bool{s.Values == nil, s.Plans == nil, s.Verifier.Repositories == nil, s.Commands != nil}
		}, all},
		{"wait", func(p *system.Ports) { p.Wait = nil },
			func(s *system.System) []bool { return []bool{s.Verifier == nil, s.Notifier != nil} }, all},
		{"lister", func(p *system.Ports) { p.Lister = nil },
			func(s *system.System) []bool { return []bool{s.Verifier.Reminders == nil, s.Notifier != nil} }, all},
		{"scheduler", func(p *system.Ports) { p.Scheduler = nil },
			func(s *system.System) []bool { return []bool{s.Notifier == nil, s.Verifier.Reminders == nil} },
			map[string][]string{"projections": projections, "effects": {"archive"}}},
		{"copies", func(p *system.Ports) { p.Copies = nil },
			func(s *system.System) []bool { return []bool{s.Verifier.Archive != nil, s.Archive != nil} },
			map[string][]string{"projections": projections, "effects": {"reminders", "webhooks"}}},
		{"bus", func(p *system.Ports) { p.Bus = nil },
			func(s *system.System) []bool {
				return []bool{s.Notifier == nil, len(s.Consumers) == len(projections)+1}
			},
			map[string][]string{"projections": projections, "effects": {"webhooks"}}},
	} {
		p, _ := allPorts(t)
		c.without(&p)
		s, err := system.New(product.Registry(), p)
		require.NoError(t, err, c.name)
		require.NotContains(t, c.missing(s), false, c.name)
		require.Equal(t, c.readers, namesOf(s), c.name)
	}
}

func TestNew_saysWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	p, _ := allPorts(t)
	_, err := system.New(nil, p)
	require.ErrorContains(t, err, "Registry, Store and Now are required")
	for _, name := range []string{"stats", "reminders"} {
		_, err = system.New(product.Registry(), p, counted(name))
		require.ErrorContains(t, err, `consumer "`+name+`" is unknown or named twice`)
	}
}

func TestSystem_servesTheAPIOfItsParts(t *testing.T) {
	t.Parallel()
	p, _ := allPorts(t)
	s, err := system.New(product.Registry(), p)
	require.NoError(t, err)
	status := func(side api.Side, method, path string) int {
		r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
		r.Header.Set("Authorization", "Bearer ann")
		w := httptest.NewRecorder()
		s.API(api.Config{Side: side, Authenticate: api.BearerIsUser, Now: clock}).ServeHTTP(w, r)
		return w.Code
	}
	require.Equal(t, http.StatusOK, status(api.SideAll, http.MethodGet, "/v1/tasks"))
	require.Equal(t, http.StatusNotFound, status(api.SideCommands, http.MethodGet, "/v1/tasks"))
	require.Equal(t, http.StatusOK, status(api.SideAll, http.MethodGet, "/openapi.json"))

	p.Pause = nil
	readOnly, err := system.New(product.Registry(), p)
	require.NoError(t, err)
	require.Panics(t, func() { readOnly.API(api.Config{Authenticate: api.BearerIsUser, Now: clock}) })
	require.NotPanics(t, func() {
		readOnly.API(api.Config{Side: api.SideQueries, Authenticate: api.BearerIsUser, Now: clock})
	})
}
