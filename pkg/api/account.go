package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/item"
)

// Fence tells the state of a user's account: [account.Fence].
type Fence interface {
	State(ctx context.Context, user string) (state account.State, eraseAt time.Time, err error)
}

// Accounts lets the account of a user leave and return: [account.Service].
type Accounts interface {
	LeaveOnce(ctx context.Context, user, key string) (eraseAt time.Time, replayed bool, err error)
	ReturnOnce(ctx context.Context, user, key string) (replayed bool, err error)
}

var (
	_ Fence    = (*account.Fence)(nil)
	_ Accounts = (*account.Service)(nil)
)

// signedInFor is how long after signing in a user may have the account erased.
const signedInFor = 10 * time.Minute

// Members of the answers about an account that leaves.
const (
	memberLeaving     = "leaving"
	memberEraseAt     = "eraseAt"
	memberRemains     = "remains"
	memberWritesAfter = "writesAfterSeconds"
)

// askFence refuses what the state of the user's account does not allow. It returns the instant of the erasure of an
// account that leaves, else the zero time. It writes no row, and so comes before any limit.
func (a *API) askFence(ctx context.Context, user string, o *operation) (eraseAt time.Time, err error) {
	if a.cfg.Fence == nil || user == "" || o == nil {
		return time.Time{}, nil
	}
	state, eraseAt, err := a.cfg.Fence.State(ctx, user)
	switch {
	case err != nil:
		return time.Time{}, err
	case state.IsGone():
		return time.Time{}, account.ErrErased
	case state != account.Leaving:
		return time.Time{}, nil
	case o.writes && !o.whileLeaving:
		p := refuse(accountLeaving, "The account is to be erased at %s. POST /v1/me/restore takes that back.",
			item.FormatInstant(eraseAt))
		p.EraseAt = item.FormatInstant(eraseAt)
		return time.Time{}, p
	}
	return eraseAt, nil
}

// isGone reports whether the account of a user who is not the client is gone.
func (s *Config) isGone(ctx context.Context, user string) (bool, error) {
	if s.Fence == nil {
		return false, nil
	}
	state, _, err := s.Fence.State(ctx, user)
	return state.IsGone(), err
}

// accountOperations returns the operations with which an account leaves and returns.
func accountOperations() []*operation {
	return []*operation{
		{
			id: "leave", method: http.MethodDelete, path: "/v1/me", tag: "me", writes: true, alone: true,
			whileLeaving: true, asksSignIn: true, finds: true,
			summary: "Have the account erased in 7 days",
			detail: "Then everything of the user is erased, for good. Until then the account can be read, and " +
				"POST /v1/me/restore takes the request back. The token must say by auth_time that its user signed in within " +
				"the last 10 minutes. A repetition changes nothing.",
			answers: []documented{{
				status: http.StatusAccepted, doc: "When the erasure begins, and what remains until when.", schema: leaveSchema(),
			}, goneAnswer},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				if err := c.mayLeave(s); err != nil {
					return answer{}, err
				}
				eraseAt, replayed, err := s.Accounts.LeaveOnce(ctx, c.user, c.key)
				if replayed && eraseAt.IsZero() {
					return answer{status: http.StatusNoContent, replayed: true}, err
				}
				return answer{status: http.StatusAccepted, body: leaveBody(eraseAt, s.Remains), replayed: replayed}, err
			},
		},
		{
			id: "restoreAccount", method: http.MethodPost, path: "/v1/me/restore", tag: "me", writes: true, alone: true,
			whileLeaving: true, finds: true, summary: "Take back the erasure of the account",
			detail: "The account is as it was. Writes may still be refused for another minute. Without a request the answer " +
				"is the same: there is nothing to take back.",
			answers: []documented{{
				status: http.StatusOK, doc: "After how many seconds writes are accepted for sure.", schema: restoreSchema(),
			}},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				if err := s.mayManage(); err != nil {
					return answer{}, err
				}
				replayed, err := s.Accounts.ReturnOnce(ctx, c.user, c.key)
				if err != nil && !errors.Is(err, account.ErrPresent) {
					return answer{}, err
				}
				body := strconv.AppendInt([]byte(`{"`+memberWritesAfter+`":`), int64(account.Memory/time.Second), 10)
				return answer{status: http.StatusOK, body: append(body, '}'), replayed: replayed}, nil
			},
		},
	}
}

// mayManage reports why the account can neither leave nor return here.
func (s *Config) mayManage() error {
	if s.Accounts == nil {
		return refuse(notFound, "This system erases no accounts.")
	}
	return nil
}

// mayLeave reports why the user may not have the account erased now. A sign-in in the future is of no clock that can be
// trusted.
func (c call) mayLeave(s *Config) error {
	if err := s.mayManage(); err != nil {
		return err
	}
	if age := s.Now().Sub(c.signedInAt); c.signedInAt.IsZero() || age > signedInFor || age < -signedInFor {
		return refuse(reauthenticate, "Sign in again, and repeat the request within %d minutes.", signedInFor/time.Minute).
			with("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_user_authentication", max_age="%d"`,
				signedInFor/time.Second))
	}
	return nil
}

// problemOfAccount returns the problem of an account that is gone, or nil.
func problemOfAccount(err error) *Problem {
	if errors.Is(err, account.ErrErased) {
		return refuse(accountErased, "The account is being erased, or was.")
	}
	return nil
}

// leaving returns the member of the user's own row that says when the account is to be erased; nil if it stays.
func leaving(eraseAt time.Time) []byte {
	if eraseAt.IsZero() {
		return nil
	}
	return append(appendText([]byte(`,"`+memberLeaving+`":{"`+memberEraseAt+`":`), item.FormatInstant(eraseAt)), '}')
}

// leavingSchema returns that member for the document.
func leavingSchema() member {
	return member{memberLeaving, object{
		{"type", "object"},
		{"description", "That the account is to be erased; absent if it stays. POST /v1/me/restore takes it back."},
		{"properties", object{{memberEraseAt, instantSchema("When the erasure begins.")}}},
		{"required", []string{memberEraseAt}},
	}}
}

func leaveBody(eraseAt time.Time, remains []account.Period) []byte {
	if remains == nil {
		remains = account.Periods()
	}
	out := appendText([]byte(`{"`+memberEraseAt+`":`), item.FormatInstant(eraseAt))
	out = append(out, `,"`+memberRemains+`":[`...)
	for i, p := range remains {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(append(out, `{"what":`...), p.What)
		out = append(appendText(append(out, `,"until":`...), p.Until), '}')
	}
	return append(out, "]}"...)
}

func leaveSchema() object {
	text := func(doc string) object { return object{{"type", "string"}, {"description", doc}} }
	return object{
		{"type", "object"},
		{"properties", object{
			{memberEraseAt, instantSchema("When the erasure begins.")},
			{memberRemains, object{
				{"type", "array"}, {"description", "What remains of the account after the erasure."},
				{"items", object{
					{"type", "object"},
					{"properties", object{{"what", text("What remains.")}, {"until", text("For how long.")}}},
					{"required", []string{"what", "until"}},
				}},
			}},
		}},
		{"required", []string{memberEraseAt, memberRemains}},
	}
}

func restoreSchema() object {
	return object{
		{"type", "object"},
		{"properties", object{{memberWritesAfter, object{
			{"type", "integer"}, {"minimum", 0},
			{"description", "For how long a part of the system may still take the account for a leaving one."},
		}}}},
		{"required", []string{memberWritesAfter}},
	}
}
