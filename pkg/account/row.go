package account

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// State is the state of an account.
type State string

const (
	// Present says that the account is in use.
	Present State = ""
	// Leaving accounts can be read and taken back, and not changed.
	Leaving State = "REQUESTED"
	// Erasing accounts are being erased, and do not come back.
	Erasing State = "ERASING"
	// Erased accounts are gone. The state ends after [Remembered]: then the id is a stranger's.
	Erased State = "ERASED"
)

// IsGone reports whether nothing works for the account any more.
func (s State) IsGone() bool { return s == Erasing || s == Erased }

const (
	// Notice is the time between a request and the erasure.
	Notice = 7 * 24 * time.Hour
	// Remembered is how long an erased account's row stays: longer than anything that could come back.
	Remembered = 40 * 24 * time.Hour
)

// Attributes of the row.
const (
	attrState     = "state"
	attrUser      = "userId" // until ERASED
	attrAskedAt   = "requestedAt"
	attrEraseAt   = "eraseAt"
	attrBegunAt   = "erasingAt"
	attrErasedAt  = "erasedAt"
	attrRevision  = "revision" // of the cursor
	attrWorker    = "worker"   // that moved the cursor last
	attrMovedAt   = "movedAt"
	attrPass      = "pass"
	attrStep      = "step"
	attrFound     = "found"   // in this pass
	attrRemoved   = "removed" // in all passes
	attrCounts    = "counts"  // likewise, by kind: a [Survey]
	attrCheck     = "check"   // of the pepper
	attrForm      = "form"    // of the register
	rowsAreOfForm = 1
)

// row is an account's row as it was read.
type row struct {
	name  string // of the user, under the pepper
	state State
	user  string
	asked time.Time
	// eraseAt is when the erasure may begin, begunAt when it did, movedAt when its cursor moved last.
	eraseAt, begunAt, movedAt time.Time
	erasedAt                  time.Time
	revision                  int64
	pass, step                int
	found, removed            int64
	counts                    Survey
}

// readRow reads a row. One past its ttl counts as none.
func readRow(name string, it item.Item, now time.Time) row {
	r := row{name: name}
	if it == nil || entity.Expired(it, now) {
		return r
	}
	r.state, r.user = State(it.Str(attrState)), it.Str(attrUser)
	r.asked, _ = it.Time(attrAskedAt)
	r.eraseAt, _ = it.Time(attrEraseAt)
	r.begunAt, _ = it.Time(attrBegunAt)
	r.movedAt, _ = it.Time(attrMovedAt)
	r.erasedAt, _ = it.Time(attrErasedAt)
	r.revision, r.pass, r.step = it.Int(attrRevision), int(it.Int(attrPass)), int(it.Int(attrStep))
	r.found, r.removed = it.Int(attrFound), it.Int(attrRemoved)
	_ = json.Unmarshal([]byte(it.Str(attrCounts)), &r.counts) // the row of a former release has none
	return r
}

// findRow reads the row of a name, consistently.
func findRow(ctx context.Context, store table.Reader, name string, now time.Time) (row, error) {
	it, err := table.Find(ctx, store, departure.StateKey(name))
	if err != nil {
		return row{}, err
	}
	return readRow(name, it, now), nil
}

// requested returns the row of a new request. It stands in the state view at its instant until ERASED.
func requested(name, user string, asked, eraseAt time.Time) item.Item {
	it := departure.StateKey(name).Item()
	it[attrState], it[attrRevision] = item.String(string(Leaving)), item.Int(1)
	if user != "" {
		it[attrUser] = item.String(user)
	}
	it.SetTime(attrAskedAt, asked)
	it.SetTime(attrEraseAt, eraseAt)
	it[item.AttrGSI3PK], it[item.AttrGSI3SK] = item.String(departure.StatePK()), it[attrEraseAt]
	return it
}

// erased returns the row of an account that was erased at the instant.
func erased(name string, at time.Time) item.Item {
	it := departure.StateKey(name).Item()
	it[attrState] = item.String(string(Erased))
	it.SetTime(attrErasedAt, at)
	it[entity.AttrTTL] = item.Int(at.Add(Remembered).Unix())
	return it
}

// asRead holds while the state is as it was read.
func (r row) asRead() table.Condition {
	tests := []table.Test{table.Equal(attrState, item.String(string(r.state)))}
	if !r.eraseAt.IsZero() {
		tests = append(tests, table.Equal(attrEraseAt, item.String(item.FormatInstant(r.eraseAt))))
	}
	return table.Exists(tests...)
}

// replaceable holds if there is no row, or one past its ttl.
func replaceable(now time.Time) table.Condition {
	return table.OrNoRow(table.Less(entity.AttrTTL, item.Int(now.Unix()+1)))
}

func (r row) String() string { return fmt.Sprintf("account %.8s…", r.name) }
