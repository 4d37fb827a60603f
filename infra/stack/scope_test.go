package stack_test

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/archive"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/deploy/env"
	"nexus/pkg/product"
	"nexus/pkg/push"
	"nexus/pkg/query"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table/memory"
	"nexus/pkg/watch"
)

// surface returns the API as a function of the template serves it, with the scopes that the template gives it.
func surface(t *template, f env.Function, side api.Side) *api.API {
	t.Helper()
	registry, store := product.Registry(), memory.New(time.Now, memory.Options{})
	publisher := revision.NewPublisher(revision.Config{Store: store, Now: time.Now, NewID: uuid.NewString})
	trees := values.New(publisher, uuid.NewString)
	return api.New(api.Config{
		Side: side, Registry: registry, Document: api.Document,
		Commands: command.New(command.Config{Store: store, Registry: registry, Now: time.Now, NewID: uuid.NewString,
			Pause: command.RandomPause(func() float64 { return 0 }, time.Now)}),
		Queries:  query.New(query.Config{Store: store, Registry: registry, Now: time.Now, Fold: strings.ToLower}),
		Archive:  archive.New(archive.Config{Store: store, Registry: registry, Now: time.Now}),
		Calendar: calendar.New(calendar.Config{Store: store, Registry: registry, Now: time.Now, Random: rand.Reader}),
		Values:   trees, Plans: plan.New(publisher, trees, time.Now, uuid.NewString),
		Watches:      watch.New(store, push.PlaceOf("r.example", "h.example"), time.Now),
		Authenticate: api.LiteralSubjects.Authenticate,
		Scopes:       strings.Fields(t.function(f).text("Environment", "Variables", env.Scopes)),
		Log:          slog.New(slog.DiscardHandler), Now: time.Now, NewID: uuid.NewString,
	})
}

var pathVariable = regexp.MustCompile(`\{[^}]*\}`)

// TestScopes_areDecidedByTheFunctionAsByTheAPI compares, for each route and token, what the API does by the template
// with what the function does by its variable.
func TestScopes_areDecidedByTheFunctionAsByTheAPI(t *testing.T) {
	t.Parallel()
	for folder, stages := range map[string][]string{
		assembly: {dev, prod}, adjusted: {prod}, whole: {dev}, doors: {prod},
	} {
		for _, stage := range stages {
			made := readFrom(t, folder, stage)
			surfaces := map[api.Side]*api.API{
				api.SideCommands: surface(made, env.Command, api.SideCommands),
				api.SideQueries:  surface(made, env.Query, api.SideQueries),
			}
			tokens := []string{"", "openid profile", "nexus", "nexus/read", "nexus/write", "nexus/read nexus/write", "a", "b",
				"openid c", "a b c", "nexus/readwrite"}
			decided := map[bool]int{}
			routes := append(api.Routes(product.Registry()),
				api.Route{Method: http.MethodGet, Path: "$default", Side: api.SideQueries},
				api.Route{Method: http.MethodDelete, Path: "$default", Side: api.SideQueries})
			for _, r := range routes {
				key, path := r.Method+" "+r.Path, pathVariable.ReplaceAllString(r.Path, "x")
				if r.Path == "$default" {
					key, path = r.Path, "/nothing"
				}
				route := routeOf(made, key)
				require.NotNil(t, route, key)
				for _, token := range tokens {
					byAPI := route.text("AuthorizationType") == "NONE" ||
						slices.ContainsFunc(texts(route.at("AuthorizationScopes")), func(scope string) bool {
							return slices.Contains(strings.Fields(token), scope)
						})
					request := httptest.NewRequestWithContext(
						api.WithClaims(t.Context(), api.Claims{Issuer: "i", Subject: "ann", Scope: token}), r.Method, path, nil)
					answer := httptest.NewRecorder()
					surfaces[r.Side].ServeHTTP(answer, request)
					byFunction := answer.Code != http.StatusForbidden
					require.Equal(t, byAPI, byFunction, "%s with %q: %s", key, token, answer.Body)
					decided[byAPI]++
				}
			}
			require.Greater(t, decided[true], 100)
			require.Greater(t, decided[false], 100)
		}
	}
}
