package simulate

import (
	"slices"
	"strings"

	"nexus/pkg/deploy/access"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/system"
	"nexus/pkg/table"
)

// rights lists the rights to the table of the functions that run a part of the system. Nil belongs to an operator's
// tool, which may do anything.
type rights []access.Grant

func rightsOf(registry *entity.Registry, part string) (out rights) {
	functions := []env.Function{}
	switch part {
	case system.PartAPI, system.PartLimits:
		functions = append(functions, env.Command, env.Query)
	case system.PartNotify:
		functions = append(functions, env.Notify)
	case system.PartDeliver, system.PartWebhook:
		functions = append(functions, env.Deliver)
	case system.PartWalk:
		functions = append(functions, env.Walk)
	}
	for _, line := range readers.Table(registry, ownSum().Name()) {
		if slices.Contains(line.Consumers, part) {
			functions = append(functions, env.Function(line.Name))
		}
	}
	for _, f := range functions {
		out = append(out, access.Grants(f)...)
	}
	return out
}

// cover reports whether they allow the action on a row of the partition, of the table or of an index.
func (r rights) cover(action string, index table.Index, partition string) bool {
	return r == nil || slices.ContainsFunc(r, func(g access.Grant) bool {
		return g.Variable == env.TableName && g.Index == index && slices.Contains(g.Actions, action) &&
			slices.ContainsFunc(g.Within, func(pattern string) bool {
				prefix, _, _ := strings.Cut(pattern, "*")
				return strings.HasPrefix(partition, prefix)
			})
	})
}

// require reports a call to which the functions have no right: in a deployment it would be refused for ever (I9).
func (p storePort) require(action string, index table.Index, keys ...item.Key) {
	for _, key := range keys {
		if !p.rights.cover(action, index, key.PK) {
			p.h.violate("I9", userOf(key), key.String(), "no right to %s", action)
		}
	}
}

// actionOf returns the right that an action of a transaction needs.
func actionOf(a table.Action) string {
	switch a.(type) {
	case table.Put:
		return access.PutItem
	case table.Update:
		return access.UpdateItem
	case table.Delete:
		return access.DeleteItem
	}
	return access.ConditionCheckItem
}
