package api

import (
	"net/http"

	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// outcomes has the outcome of each command of a batch, by its id, for those that name one in expectedAfter.
type outcomes map[string]outcome

// outcome holds the status and the version that one command came to.
type outcome struct {
	operation *operation // nil if the command could not be read
	names     string     // the id of the entity that it is about
	status    int
	version   int64 // that it made of that entity; 0 for none
}

func (o outcome) succeeded() bool { return o.status < http.StatusMultipleChoices }

// add records the outcome of a command. Two commands with one id are repetitions of each other, or one of them is
// refused: the one that was carried out counts.
func (d outcomes) add(id string, o *operation, c call, out answer, p *Problem) {
	if before, known := d[id]; known && before.succeeded() {
		return
	}
	one := outcome{operation: o, status: out.status, version: out.made}
	if o != nil {
		one.names = o.names(c)
	}
	if p != nil {
		one.status = p.Status
	}
	d[id] = one
}

// resolve replaces the command that a call names in expectedAfter by the version that this command made. The problem
// says why the call must not be carried out.
func (d outcomes) resolve(o *operation, c *call) *Problem {
	refused := func(detail string) *Problem {
		p := refuse(malformed, "/%s %s.", memberAfter, detail)
		p.Errors = []Fault{{FieldError: entity.FieldError{Pointer: "/" + memberAfter, Detail: detail}}}
		return p
	}
	before, known := d[c.after]
	switch asked := o.asks(*c); {
	case asked == "":
		return refused("has no meaning without " + memberFromEvent)
	case !known:
		return refused("names no command before this one in the batch")
	case before.operation == nil || before.names == asked:
	case o.isAboutOccurrence() && before.names == c.path[product.AttrMasterID]: // it follows its series
		c.ofSeries = true
	default:
		return refused("names a command about another entity")
	}
	switch {
	case before.status == http.StatusServiceUnavailable:
		return refuse(unavailable, "The command that this one follows could not be carried out now.")
	case !before.succeeded():
		return refuse(dependencyFailed, "The command that this one follows was answered with %d.", before.status)
	}
	c.expected = &before.version
	return nil
}
