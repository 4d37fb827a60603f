package tenant_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/tenant"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

var noon = time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC)

func TestPolicy_allowsATenantItsOwnPartitionsAlone(t *testing.T) {
	t.Parallel()
	p := tenant.New("12")
	own := repository.Address{User: "12", Date: "2026-01-23"}
	other := repository.Address{User: "123", Date: "2026-01-23"}
	revID := repository.NewRevisionID(noon, "00000000-0000-4000-8000-000000000000")
	note := entity.Ref{Type: product.TypeNote, ID: "note_1"}
	const get, batch, query = "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"
	for name, c := range map[string]struct {
		action     string
		index      table.Index
		partitions []string
		want       bool
	}{
		"the user's items": {get, table.Base, []string{entity.UserPK("12")}, true},
		"the user's repositories": {query, table.Base,
			[]string{repository.UserPK("12"), own.LogPK(), own.SnapshotPK(revID)}, true},
		"a batch over both":             {batch, table.Base, []string{own.LogPK(), entity.UserPK("12")}, true},
		"the user's year":               {query, table.YearView, []string{entity.AgendaPK("12", 2026)}, true},
		"the user's states":             {query, table.StateView, []string{entity.UserPK("12")}, true},
		"items of a longer name":        {get, table.Base, []string{entity.UserPK("123")}, false},
		"repositories of a longer name": {query, table.Base, []string{repository.UserPK("123")}, false},
		"a plan of a longer name":       {query, table.Base, []string{other.LogPK()}, false},
		"a snapshot of a longer name":   {query, table.Base, []string{other.SnapshotPK(revID)}, false},
		"the year of a longer name":     {query, table.YearView, []string{entity.AgendaPK("123", 2026)}, false},
		"a shorter name":                {get, table.Base, []string{entity.UserPK("1")}, false},
		"one of another among one's own": {batch, table.Base,
			[]string{entity.UserPK("12"), entity.UserPK("13")}, false},
		"no key at all":     {query, table.Base, nil, false},
		"a write":           {"dynamodb:PutItem", table.Base, []string{entity.UserPK("12")}, false},
		"a removal":         {"dynamodb:DeleteItem", table.Base, []string{entity.UserPK("12")}, false},
		"a batch of writes": {"dynamodb:BatchWriteItem", table.Base, []string{entity.UserPK("12")}, false},
		"a check": {"dynamodb:ConditionCheckItem", table.Base,
			[]string{entity.UserPK("12")}, false},
		"a scan":                            {"dynamodb:Scan", table.Base, []string{entity.UserPK("12")}, false},
		"a statement in PartiQL":            {"dynamodb:PartiQLSelect", table.Base, []string{entity.UserPK("12")}, false},
		"the table itself":                  {"dynamodb:DeleteTable", table.Base, []string{entity.UserPK("12")}, false},
		"a series' partition, of all users": {query, table.Recurrence, []string{"MASTER#mst_1"}, false},
		"the user's links to an item":       {query, table.CrossLinks, []string{entity.LinkedPK("12", note)}, true},
		"links of a longer name":            {query, table.CrossLinks, []string{entity.LinkedPK("123", note)}, false},
		"links of a shorter name":           {query, table.CrossLinks, []string{entity.LinkedPK("1", note)}, false},
		"links to an item, of all users":    {query, table.CrossLinks, []string{"LINKED#NOTE#note_1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			permitted := slices.Contains(p.Actions, c.action) && (c.index == table.Base || slices.Contains(p.Indexes, c.index))
			require.Equal(t, c.want, permitted && holds(tenant.Condition(p.LeadingKeys), c.partitions))
		})
	}
}

// holds evaluates the condition as AWS documents it (IAM User Guide, condition operators): ForAllValues is true of an
// absent key, and Null: false is not.
func holds(condition map[string]map[string]any, leadingKeys []string) bool {
	patterns := condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"].([]string)
	for _, key := range leadingKeys {
		if !slices.ContainsFunc(patterns, func(pattern string) bool {
			quoted := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
			return regexp.MustCompile(`^(?s:` + quoted + `)$`).MatchString(key)
		}) {
			return false
		}
	}
	return condition["Null"]["dynamodb:LeadingKeys"] == "false" && len(leadingKeys) > 0
}

func TestPolicy_letsNoTwoTenantsShareAPartition(t *testing.T) {
	t.Parallel()
	users := []string{
		"1", "12", "123", "U", "USER", "u_1", "u_1-", "u", "12_", "PLAN", "VALUES", "LINKED", "NOTE", "2026", "-", "_",
	}
	revID := repository.NewRevisionID(noon, "00000000-0000-4000-8000-000000000000")
	for _, mine := range users {
		p := tenant.New(mine)
		for _, theirs := range users {
			tree, plan := repository.Address{User: theirs}, repository.Address{User: theirs, Date: "2026-01-23"}
			require.NoError(t, plan.Check())
			for _, partition := range []string{
				entity.UserPK(theirs), entity.AgendaPK(theirs, 2026), repository.UserPK(theirs), tree.LogPK(),
				tree.SnapshotPK(revID), plan.LogPK(), plan.SnapshotPK(revID), tree.DraftKey(revID).PK, plan.DraftKey(revID).PK,
				entity.LinkedPK(theirs, entity.Ref{Type: product.TypeNote, ID: mine}),
			} {
				limits := tenant.Condition(p.LeadingKeys)
				require.Equal(t, mine == theirs, holds(limits, []string{partition}), "%s on %s", mine, partition)
			}
		}
	}
}

func TestPolicy_needsTheSeparatorAgainstLongerNames(t *testing.T) {
	t.Parallel()
	written := map[string]map[string]any{
		"ForAllValues:StringLike": {"dynamodb:LeadingKeys": []string{"U#12*"}}, "Null": {"dynamodb:LeadingKeys": "false"},
	}
	require.True(t, holds(written, []string{repository.UserPK("123")}),
		"which is why the source document's pattern is not taken")
}

func TestPolicy_hasTheDocumentedCondition(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(tenant.Condition(tenant.New("${aws:PrincipalTag/user}").LeadingKeys))
	require.NoError(t, err)
	require.JSONEq(t, `{
		"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [
			"U#${aws:PrincipalTag/user}", "U#${aws:PrincipalTag/user}#*", "USER#${aws:PrincipalTag/user}", `+
		`"USER#${aws:PrincipalTag/user}#*",
			"LINKED#${aws:PrincipalTag/user}#*"
		]},
		"Null": {"dynamodb:LeadingKeys": "false"}
	}`, string(text))
}
