package access_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/access"
	"nexus/pkg/deploy/env"
	"nexus/pkg/entity/repository"
	"nexus/pkg/table"
)

func TestAccess_grantsWhatTheVariablesOfAFunctionNameAlone(t *testing.T) {
	t.Parallel()
	// What a schedule calls, and where a call ends that could not be made, the scheduler uses, not the function.
	schedulers := []string{env.ScheduleTargetARN, env.ScheduleDeadLetterARN}
	// Where apps subscribe, command only tells them; and neither a setting nor the pepper names a resource.
	told := map[env.Function][]string{
		env.Command: {
			env.HintsHost, env.HintsRealtimeHost, env.SubjectForm, env.Limits, env.Scopes, env.Issuer, env.Audience,
			env.FeedOrigin, env.EdgeSecrets, env.PushHosts,
		},
		env.Query: {env.SyncForm, env.SubjectForm, env.Limits, env.Scopes, env.Issuer, env.Audience, env.EdgeSecrets,
			env.PushKey},
		env.Deliver:     {env.PushKey, env.FeedOrigin},
		env.Projections: {env.SyncForm},
		env.Effects:     {env.Announce},
		env.Account:     {env.ScheduleRoleARN},  // it deletes schedules and makes none
		env.Canary:      env.Canary.Variables(), // it is a user, and asks no service but the API and the issuer
	}
	for _, f := range env.Functions() {
		named := map[string]bool{}
		for _, g := range access.Grants(f) {
			require.NotEmpty(t, g.Actions, "%s", f)
			if g.Variable == "" {
				require.Equal(t, []string{access.ListSchedules}, g.Actions, "nothing else knows no resources")
				continue
			}
			require.Contains(t, f.Variables(), g.Variable, "%s", f)
			named[g.Variable] = true
		}
		for _, variable := range f.Variables() {
			without := variable == env.Pepper || slices.Contains(schedulers, variable) || slices.Contains(told[f], variable)
			require.NotEqual(t, without, named[variable], "%s of %s", variable, f)
		}
	}
	require.Empty(t, access.Grants("another"))
}

func TestItems_areReachedByPartitionsOfUsersAlone(t *testing.T) {
	t.Parallel()
	for _, f := range env.Functions() {
		for _, g := range access.Grants(f) {
			for _, action := range g.Actions {
				require.NotContains(t, action, "*")
				require.False(t, strings.HasSuffix(action, ":Scan") || strings.Contains(action, "PartiQL"), "%s of %s", action, f)
				if g.Variable != env.TableName || action == access.DescribeTable {
					continue
				}
				require.NotEmpty(t, g.Within, "%s of %s", action, f)
				for _, pattern := range g.Within {
					prefix, _, _ := strings.Cut(pattern, "*")
					require.NotEmpty(t, prefix, "%s of %s", action, f)
				}
				if g.Index != table.Base {
					_, known := table.ProductSchema().Index(g.Index)
					require.True(t, known, g.Index)
					require.Equal(t, access.Query, action, "an index is only queried")
				}
			}
		}
	}
}

func TestAccess_grantsReadersNoChangeAndConsumersNoRepository(t *testing.T) {
	t.Parallel()
	for _, g := range access.Grants(env.Query) {
		if g.Attributes != nil { // of the rows that count what is asked
			require.Equal(t, []string{"fullAt", "ttl"}, g.Attributes)
			require.Equal(t, []string{access.UpdateItem}, g.Actions)
			continue
		}
		if g.Variable == env.ArchiveBucket { // for addresses of files alone
			require.Equal(t, []string{"exports/*"}, g.Within)
			require.Equal(t, []string{access.GetObject}, g.Actions)
			continue
		}
		if g.Variable == env.SnapshotBucket { // its own cache
			require.Contains(t, [][]string{{"snap/*"}, nil}, g.Within)
			continue
		}
		for _, action := range g.Actions {
			require.Contains(t, []string{access.GetItem, access.BatchGetItem, access.Query}, action)
		}
	}
	for _, f := range []env.Function{env.Projections, env.Effects, env.Notify} {
		for _, g := range access.Grants(f) {
			require.NotContains(t, g.Within, repository.UserPK("*"), "%s", f)
		}
	}
}
