package local

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"nexus/pkg/account"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/replay"
	"nexus/pkg/table"
)

// partition walks the rows of one user alone.
type partition struct {
	store table.Store
	user  string
}

// Walk implements [table.Walker].
func (p partition) Walk(ctx context.Context, _, _ int, visit func(item.Item) error) error {
	for row, err := range table.Rows(ctx, p.store, table.Query{Partition: entity.UserPK(p.user)}, 0) {
		if err != nil {
			return err
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	return nil
}

// getDerived answers with what is derived of one item, or of all of a user's: rows, schedules, events and objects.
func (p *Platform) getDerived(w http.ResponseWriter, r *http.Request) error {
	_, query, err := listParams(r, maxList, "user", "item")
	if err != nil {
		return err
	}
	user := query.Get("user")
	if err := entity.CheckUserID(user); err != nil {
		return refusal(http.StatusUnprocessableEntity, "user: %v", err)
	}
	view := p.view()
	view.Walker = partition{p.unmeteredStore(), user}
	view.Users, view.Item = map[string]bool{user: true}, query.Get("item")
	state, err := view.State(r.Context())
	if err != nil {
		return err
	}
	return answer(w, struct {
		User  string       `json:"user"`
		Item  string       `json:"item,omitempty"`
		State replay.State `json:"state"`
	}{user, view.Item, state})
}

// unmeteredStore returns the table for looking at it: what that costs counts for no part.
func (p *Platform) unmeteredStore() table.Store {
	return p.backend.newStore(func(table.Consumption) {}, true)
}

// users knows every user of the table: by one walk when someone asks first, and from then on by the stream.
type users struct {
	mu     sync.Mutex
	walked bool
	known  map[string]bool
}

// maxUsers bounds the users that are known.
const maxUsers = 100_000

func (u *users) observe(records []change.Record) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.walked {
		return
	}
	for _, r := range records {
		u.add(r.Key)
	}
}

func (u *users) add(key item.Key) {
	if user, err := entity.ParseUserPK(key.PK); err == nil && len(u.known) < maxUsers {
		u.known[user] = true
	}
}

func (u *users) forget(user string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.known, user)
}

// all returns the users in order. The records that arrive during the walk are taken in, too.
func (u *users) all(ctx context.Context, walker table.Walker) ([]string, error) {
	u.mu.Lock()
	first := !u.walked
	if first {
		u.walked, u.known = true, map[string]bool{}
	}
	u.mu.Unlock()
	if first {
		err := walker.Walk(ctx, 0, 1, func(row item.Item) error {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.add(row.Key())
			return nil
		})
		if err != nil {
			u.mu.Lock()
			u.walked = false
			u.mu.Unlock()
			return nil, err
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []string
	for user := range u.known {
		out = append(out, user)
	}
	slices.Sort(out)
	return out, nil
}

// getUsers lists the users who have a row in the table.
func (p *Platform) getUsers(w http.ResponseWriter, r *http.Request) error {
	limit, query, err := listParams(r, maxList, "after")
	if err != nil {
		return err
	}
	all, err := p.users.all(r.Context(), p.backend.walker)
	if err != nil {
		return err
	}
	from, _ := slices.BinarySearch(all, query.Get("after")+"\x00")
	out := listed[string]{Items: append([]string{}, all[from:min(len(all), from+limit)]...)}
	if from+limit < len(all) {
		out.Next = all[from+limit-1]
	}
	return answer(w, out)
}

// forgetSeen drops what those who look may see of a user who is erased.
func (p *Platform) forgetSeen(user string) {
	p.users.forget(user)
	p.hub.forget()
	if p.seen != nil {
		p.seen.changes.Forget(user)
	}
}

// isOf reports whether the row's partition belongs to the user.
func isOf(user string) func(item.Key) bool {
	return func(key item.Key) bool {
		owner, ok := account.OwnerOf(key.PK)
		return ok && owner == user
	}
}
