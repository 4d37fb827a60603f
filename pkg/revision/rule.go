package revision

import (
	"fmt"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/text"
)

// Rule names one rule of a repository, in lower case with dashes; part of the contract.
type Rule string

// Violation is one broken rule.
type Violation struct {
	Rule Rule
	// Subject is the id of the offending part: a node, an action of a to-do, a block; empty for the repository as a
	// whole.
	Subject string
	// Pointer is the place in the request (RFC 6901 JSON Pointer).
	Pointer string
	Detail  string
}

func (v Violation) String() string {
	if v.Subject == "" {
		return fmt.Sprintf("%s (%s)", v.Detail, v.Rule)
	}
	return fmt.Sprintf("%s: %s (%s)", v.Subject, v.Detail, v.Rule)
}

// RuleError lists everything that is wrong with a state to be committed (422); nothing was written.
type RuleError struct{ Violations []Violation }

func (e *RuleError) Error() string {
	text := fmt.Sprintf("%d rules are broken: %s", len(e.Violations), e.Violations[0])
	if len(e.Violations) > 1 {
		text += "; ..."
	}
	return text
}

// Fields returns the violations in the form of a problem document's errors: each detail names the subject and the rule.
func (e *RuleError) Fields() []entity.FieldError {
	fields := make([]entity.FieldError, len(e.Violations))
	for i, v := range e.Violations {
		fields[i] = entity.FieldError{Pointer: v.Pointer, Detail: v.String()}
	}
	return fields
}

// Bounds of the report on one request, which may consist of mistakes alone: the findings, and the bytes of a repeated
// (possibly malformed) id and of a finding's text.
const (
	maxViolations = 256
	maxSubject    = 64
	maxDetail     = 400
)

// Violations collects broken rules, up to a bound. The zero value is empty and ready.
type Violations struct{ found []Violation }

// Add records a broken rule. Subject and detail may hold a client's input: it cuts off what is too long.
func (v *Violations) Add(rule Rule, subject, pointer, format string, args ...any) {
	if len(v.found) < maxViolations {
		v.found = append(v.found,
			Violation{rule, bounded(subject, maxSubject), pointer, bounded(fmt.Sprintf(format, args...), maxDetail)})
	}
}

func bounded(s string, longest int) string { return strings.ToValidUTF8(text.Clip(s, longest), "") }

// Len returns the number of recorded broken rules.
func (v *Violations) Len() int { return len(v.found) }

// Err returns a [*RuleError] with all records, or nil.
func (v *Violations) Err() error {
	if v.Len() == 0 {
		return nil
	}
	return &RuleError{v.found}
}
