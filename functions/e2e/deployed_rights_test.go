package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"nexus/internal/wiretest"
	"nexus/pkg/deploy/access"
	"nexus/pkg/deploy/env"
)

// rights judges requests by the roles of a template.
type rights struct {
	*stack
	statements map[string][]statement // by the name of a role

	mu   sync.Mutex
	used map[string]bool
}

// statement is a statement that allows something (IAM User Guide, "IAM JSON policy element reference").
type statement struct {
	role               string
	actions, resources []string
	conditions         map[string]any
}

func newRights(s *stack) *rights {
	r := &rights{stack: s, statements: map[string][]statement{}, used: map[string]bool{}}
	for _, role := range s.all("AWS::IAM::Role") {
		for _, policy := range listOf(role.at("Policies")) {
			document := policy.(map[string]any)["PolicyDocument"].(map[string]any)
			for _, each := range listOf(document["Statement"]) {
				text := each.(map[string]any)
				if text["Effect"] != "Allow" {
					s.Errorf("a statement of %s has the effect %v, which is not judged here", role.id, text["Effect"])
				}
				conditions, _ := text["Condition"].(map[string]any)
				r.statements[role.name()] = append(r.statements[role.name()], statement{
					role.name(), textsOf(text["Action"]), textsOf(text["Resource"]), conditions,
				})
			}
		}
	}
	return r
}

// asked is one thing that a role asks for: an action on a resource, with the request's values of condition keys.
type asked struct {
	action, resource string
	values           map[string][]string
}

// may reports whether the role allows it, and notes what was used for it.
func (r *rights) may(role string, a asked) bool {
	allowed := false
	for _, s := range r.statements[role] {
		for _, resource := range s.resources {
			if slices.Contains(s.actions, a.action) && matches(resource, a.resource) && r.meets(s.conditions, a.values) {
				r.mu.Lock()
				r.used[s.spell(a.action, resource)] = true
				r.mu.Unlock()
				allowed = true
			}
		}
	}
	return allowed
}

// require fails the test if the role does not allow it.
func (r *rights) require(role, action, resource string) {
	if !r.may(role, asked{action: action, resource: resource}) {
		r.Errorf("the role %s has no right to %s on %s", role, action, resource)
	}
}

// meets reports whether values meet all conditions. Those that a service does not send are missing.
func (r *rights) meets(conditions map[string]any, values map[string][]string) bool {
	for operator, keys := range conditions {
		for key, wanted := range keys.(map[string]any) {
			list, got := textsOf(wanted), values[key]
			in := func(value string) bool { return slices.Contains(list, value) }
			like := func(value string) bool {
				return slices.ContainsFunc(list, func(pattern string) bool { return matches(pattern, value) })
			}
			switch operator {
			case "Null":
				if (len(got) == 0) != (fmt.Sprint(wanted) == "true") {
					return false
				}
			case "StringEquals":
				if len(got) != 1 || !in(got[0]) {
					return false
				}
			case "ForAllValues:StringEquals":
				if slices.ContainsFunc(got, func(value string) bool { return !in(value) }) {
					return false
				}
			case "ForAllValues:StringLike":
				if slices.ContainsFunc(got, func(value string) bool { return !like(value) }) {
					return false
				}
			default:
				r.Errorf("a condition has the operator %s, which is not judged here", operator)
				return false
			}
		}
	}
	return true
}

func (s statement) spell(action, resource string) string {
	conditions, _ := json.Marshal(s.conditions)
	return fmt.Sprintf("%s: %s on %s %s", s.role, action, resource, strings.TrimPrefix(string(conditions), "null"))
}

// unused returns what is granted and was not used, of the roles that did something, and how much is granted to them.
func (r *rights) unused() (out []string, granted int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]bool{}
	for role, statements := range r.statements {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(r.used)), func(right string) bool {
			return strings.HasPrefix(right, role+": ")
		}) {
			continue // of the rollout, which is not run here
		}
		for _, s := range statements {
			for _, action := range s.actions {
				for _, resource := range s.resources {
					all[s.spell(action, resource)] = true
				}
			}
		}
	}
	for _, right := range slices.Sorted(maps.Keys(all)) {
		if !r.used[right] {
			out = append(out, right)
		}
	}
	return out, len(all)
}

// overstepped returns what the function that sent a request has no right to.
func (d *deployed) overstepped(c wiretest.Call) (wrong []string) {
	l := d.lambdas[prefixOfFunctions+c.Caller]
	if l == nil {
		return []string{fmt.Sprintf("%q is no function", c.Caller)}
	}
	for _, n := range needs(c) {
		if a := d.asked(l, n, c); !d.rights.may(l.role, a) {
			wrong = append(wrong, fmt.Sprintf("the role of %s has no right to %+v", l.name, a))
		}
	}
	return wrong
}

// asked spells a need with the names that the function has in its environment.
func (d *deployed) asked(l *lambda, n need, c wiretest.Call) asked {
	a := asked{action: n.action, values: map[string][]string{}}
	named := l.environment[n.variable]
	switch n.variable {
	case env.TableName:
		a.resource = arnOf("dynamodb", "table/"+named)
		if n.index != "" {
			a.resource += "/index/" + string(n.index)
		}
		if n.within != "" {
			a.values["dynamodb:LeadingKeys"] = []string{n.within}
		}
		a.values["dynamodb:Attributes"] = n.attributes
	case env.ArchiveBucket, env.ParkingBucket, env.SnapshotBucket:
		a.resource = strings.TrimSuffix("arn:aws:s3:::"+named+"/"+n.within, "/")
	case env.BusName:
		a.resource = arnOf("events", "event-bus/"+named)
		for _, entry := range listOf(c.Input["Entries"]) {
			source, _ := entry.(map[string]any)["Source"].(string)
			a.values["events:source"] = append(a.values["events:source"], source)
		}
	case env.DeliverARN:
		a.resource, _ = c.Input["FunctionName"].(string)
	case env.PushKeyParameter, env.HookKeyParameter:
		a.resource = arnOf("ssm", fmt.Sprintf("parameter%v", c.Input["Name"]))
	case env.WalkQueueURL:
		a.resource = arnOf("sqs", named[strings.LastIndexByte(named, '/')+1:])
	case env.HintsHost:
		a.resource = arnOf("appsync", "apis/Hints-ApiId/"+n.within)
	case env.ScheduleGroup:
		a.resource = arnOf("scheduler", fmt.Sprintf("schedule/%v/%s", c.Input["GroupName"], n.within))
	case env.ScheduleRoleARN:
		target, _ := c.Input["Target"].(map[string]any)
		a.resource, _ = target["RoleArn"].(string)
		a.values["iam:PassedToService"] = []string{"scheduler.amazonaws.com"}
	case "":
		if n.action == access.ListSchedules {
			a.resource = "*"
		}
	}
	return a
}
