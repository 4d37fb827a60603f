package cloud_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/internal/cloud"
	"nexus/internal/wiretest"
	"nexus/pkg/deploy/env"
)

const hush = "the secret of the parameter"

// store is Parameter Store behind a guard: it answers the first requests with what is given, and then with the value.
type store struct {
	service wiretest.Service
	mu      sync.Mutex
	asked   int
	first   []func(http.ResponseWriter)
}

func (s *store) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; s.asked <= len(s.first) {
		s.first[s.asked-1](w)
		return
	}
	fmt.Fprintf(w, `{"Parameter":{"Name":"/nexus/push","Type":"SecureString","Value":%q,"Version":1}}`, hush)
}

func (s *store) parameter(t *testing.T) *cloud.Parameter {
	t.Helper()
	server := httptest.NewServer(wiretest.NewGuard(t, s, s.service))
	t.Cleanup(server.Close)
	p := cloud.NewParameter(env.AWS{
		Region: "eu-central-1", AccessKeyID: "deliver", SecretAccessKey: "local", SessionToken: "token",
		Endpoints: map[env.Service]string{env.SSM: server.URL},
	}, "/nexus/push")
	p.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return p
}

func TestParameter_isReadOnce(t *testing.T) {
	t.Parallel()
	s := &store{service: wiretest.SSM()}
	p := s.parameter(t)
	require.Zero(t, s.asked, "no request is made before the value is needed")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			value, err := p.Value(t.Context())
			require.NoError(t, err)
			require.Equal(t, hush, value)
		})
	}
	all.Wait()
	require.Equal(t, 1, s.asked)
}

// Each documented error is an error, and is asked for again only if the service's documents say that it may pass.
func TestParameter_asksAgainAfterWhatMayPass(t *testing.T) {
	t.Parallel()
	service := wiretest.SSM()
	for _, refusal := range service.Operation("GetParameter").Refusals {
		t.Run(refusal.Code, func(t *testing.T) {
			t.Parallel()
			s := &store{service: service, first: []func(http.ResponseWriter){
				func(w http.ResponseWriter) { service.Refuse(w, refusal) },
			}}
			p := s.parameter(t)
			value, err := p.Value(t.Context())
			if refusal.Repeated {
				require.NoError(t, err)
				require.Equal(t, hush, value)
				require.Equal(t, 2, s.asked)
				return
			}
			require.ErrorContains(t, err, refusal.Code)
			require.ErrorContains(t, err, "/nexus/push")
			require.Equal(t, 1, s.asked)
			value, err = p.Value(t.Context())
			require.NoError(t, err, "the next call may find it")
			require.Equal(t, hush, value)
		})
	}
}

func TestParameter_isNoAnswerWithoutAValue(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `{"Parameter":{"Value":""}}`, `{"Parameter":{"Value":"` + hush} {
		answer := func(w http.ResponseWriter) { fmt.Fprint(w, text) }
		s := &store{service: wiretest.SSM(), first: slices.Repeat([]func(http.ResponseWriter){answer}, 6)}
		_, err := s.parameter(t).Value(t.Context())
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), hush)
	}
}

func TestParameter_endsWithItsContext(t *testing.T) {
	t.Parallel()
	s := &store{service: wiretest.SSM()}
	refusal := s.service.Operation("GetParameter").Refusals[3]
	for range 10 {
		s.first = append(s.first, func(w http.ResponseWriter) { s.service.Refuse(w, refusal) })
	}
	ctx, cancel := context.WithCancel(t.Context())
	p := s.parameter(t)
	p.Wait = func(context.Context, time.Duration) error { cancel(); return ctx.Err() }
	_, err := p.Value(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, s.asked)
}
