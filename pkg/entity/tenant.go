package entity

import (
	"slices"
	"strings"
)

// TenantPolicy is what the role of one user may do with the table: the statement that infrastructure writes into a
// role, as a value. Stream roles cannot be limited to a user and have another.
type TenantPolicy struct {
	// Actions are those of the service that name rows by their keys. Scan and PartiQL are none of them.
	Actions []string
	// Indexes may be queried besides the table: those whose partitions name the user.
	Indexes []Index
	// LeadingKeys are the patterns of the partitions: a user's own, with the separator behind it those that begin with it,
	// and those of the user's edges.
	// A pattern U#12* would match the partition of a user 123 as well.
	LeadingKeys []string
}

// NewTenantPolicy returns the policy of one user. For a role that many users assume, user is the policy variable that
// stands for whoever does, such as ${aws:PrincipalTag/user}; its value must have passed [CheckUserID], which keeps the
// separator and wildcards out of it.
func NewTenantPolicy(user string) TenantPolicy {
	p := TenantPolicy{
		Actions: []string{
			"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:ConditionCheckItem",
			"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem",
		},
		Indexes: []Index{YearView, StateView, CrossLinks},
	}
	for _, own := range []string{RepositoryPK(user), UserPK(user)} {
		p.LeadingKeys = append(p.LeadingKeys, own, own+separator+"*")
	}
	p.LeadingKeys = append(p.LeadingKeys, LinkedPrefix(user)+"*")
	return p
}

// leadingKeys is the condition key that holds the partitions a request names; for an index, those of the index.
const leadingKeys = "dynamodb:LeadingKeys"

// Condition returns the statement's Condition: operators, their condition keys, and the values. ForAllValues also holds
// for a request that names no partition, which is why the key must be there besides.
func (p TenantPolicy) Condition() map[string]map[string]any {
	return map[string]map[string]any{
		"ForAllValues:StringLike": {leadingKeys: slices.Clone(p.LeadingKeys)},
		"Null":                    {leadingKeys: "false"},
	}
}

// Allows reports whether the policy lets a request through: its action, the index or [Base], and the partitions it
// names.
func (p TenantPolicy) Allows(action string, index Index, partitions ...string) bool {
	if !slices.Contains(p.Actions, action) || index != Base && !slices.Contains(p.Indexes, index) {
		return false
	}
	for _, partition := range partitions {
		if !slices.ContainsFunc(p.LeadingKeys, func(pattern string) bool { return isLike(partition, pattern) }) {
			return false
		}
	}
	return len(partitions) > 0
}

// isLike is StringLike for patterns whose only wildcard is a star at their end.
func isLike(s, pattern string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(s, prefix)
	}
	return s == pattern
}
