// Package tenant holds the right of one user to read their own rows of the table: an IAM statement as data. It has no
// action that writes: a row written without a command would skip its checks.
//
// It promises that the statement covers every partition of the user and no partition of another, even if one user's id
// begins with another's. The infrastructure writes the statement into a policy. A table's streams cannot be limited to
// a user, so roles that read them use another statement.
package tenant

import (
	"slices"

	"nexus/pkg/deploy/access"
	"nexus/pkg/table"
)

// Policy says what the role of one user may do with the table.
type Policy struct {
	// Actions are the service's reads that name rows by their keys. Scan and PartiQL are not among them.
	Actions []string
	// Indexes may be queried in addition to the table. Each has the user's id in its partitions.
	Indexes []table.Index
	// LeadingKeys are the patterns of the partitions: those of the user by name, and those that begin with a prefix of
	// the user's. A pattern U#12* would match the partition of a user 123 as well.
	LeadingKeys []string
}

// New returns the policy of one user. For a role that many users assume, user is the policy variable that IAM replaces
// by the id, such as ${aws:PrincipalTag/user}. Its value must have passed the check of user ids, which keeps the
// separator and wildcards out of it.
func New(user string) Policy {
	return Policy{
		Actions:     []string{access.GetItem, access.BatchGetItem, access.Query},
		Indexes:     []table.Index{table.YearView, table.StateView, table.CrossLinks},
		LeadingKeys: access.PartitionsOf(user),
	}
}

// leadingKeys is the condition key that holds the partitions a request names; for an index, those of the index.
const leadingKeys = "dynamodb:LeadingKeys"

// Condition returns the Condition of a statement that limits it to partitions of these patterns: operators, their
// condition keys, and the values. ForAllValues also holds for a request that names no partition, so the key must exist.
func Condition(patterns []string) map[string]map[string]any {
	return map[string]map[string]any{
		"ForAllValues:StringLike": {leadingKeys: slices.Clone(patterns)},
		"Null":                    {leadingKeys: "false"},
	}
}
