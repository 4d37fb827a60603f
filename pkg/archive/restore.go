package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// restoredAhead is the difference between the version of a restored item and its copy's: its removal counted as one
// version.
const restoredAhead = 2

// Errors of [Archive.Restore]. They are matched with errors.Is.
var (
	// ErrNoCopy says that the user has no cold copy of that item.
	ErrNoCopy = errors.New("no cold copy")
	// ErrAlive says that the item has not left the table.
	ErrAlive = errors.New("the item has not expired")
	// ErrGone says that its user deleted the item.
	ErrGone = errors.New("the item was deleted")
	// ErrForeign says that the copy holds an item with another key than the one asked for: of another user, or of another
	// id. Only a forged object or row does that, and nothing of it is shown.
	ErrForeign = errors.New("the cold copy is of another item")
)

// Archive lists and restores cold copies: the part of this package for clients.
type Archive struct{ Config }

// New returns the archive. It needs no bus: the consumer announces restored items.
func New(cfg Config) *Archive { return &Archive{cfg} }

// Copy is the content of an item's cold row.
type Copy struct {
	Ref       entity.Ref
	Version   int64
	Title     string
	ExpiresAt time.Time // when the item leaves the table, or left it
}

// List returns a page of the user's cold copies in the order of the items' ids. Position is that of the previous page.
func (a *Archive) List(
	ctx context.Context, user string, limit int, start table.Position,
) (copies []Copy, next table.Position, err error) {
	page, err := a.Store.Query(ctx, table.Query{
		Partition: entity.UserPK(user), Range: table.Range{Prefix: entity.ColdPrefix()}, Limit: limit, Start: start,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list cold copies of %s: %w", entity.UserPK(user), err)
	}
	for _, row := range page.Items {
		at, _ := row.Time(attrExpiresAt)
		copies = append(copies, Copy{
			Ref:       entity.Ref{Type: row.Str(attrItemType), ID: row.Str(attrItemID)},
			Version:   row.Int(entity.AttrVersion),
			Title:     row.Str(entity.AttrTitle),
			ExpiresAt: at,
		})
	}
	return copies, page.Next, nil
}

// Restore restores an item from its cold copy and returns it. More actions, such as the receipt of an idempotent
// request, join the same transaction as its last. Each is made of the item as it is to be restored. A failure of one
// returns a [*table.ConditionError] with its position among them.
func (a *Archive) Restore(
	ctx context.Context, t *entity.Type, user, id string, more ...func(restored item.Item) table.Action,
) (item.Item, error) {
	key := entity.ItemKey(user, entity.Ref{Type: t.Name, ID: id})
	for range maxRounds {
		plan, err := a.plan(ctx, t, user, id)
		if err != nil {
			return nil, err
		}
		actions := plan.actions
		for _, action := range more {
			actions = append(actions, action(plan.restored))
		}
		err = a.Store.Transact(ctx, actions...)
		var failed *table.ConditionError
		switch {
		case err == nil:
			return plan.restored, nil
		case !errors.As(err, &failed):
			return nil, fmt.Errorf("restore %s: %w", key, err)
		}
		if extra := failuresFrom(failed, len(plan.actions)); extra != nil {
			return nil, extra
		}
	}
	return nil, fmt.Errorf("restore %s: %w: %w", key, errContended, table.ErrConflict)
}

// failuresFrom returns the failures of the actions from the index on, counted from there; nil if there are none.
func failuresFrom(failed *table.ConditionError, index int) error {
	var extra []table.Failure
	for _, f := range failed.Failures {
		if f.Index >= index {
			extra = append(extra, table.Failure{Index: f.Index - index, Old: f.Old})
		}
	}
	if extra == nil {
		return nil
	}
	return &table.ConditionError{Failures: extra}
}

type restoration struct {
	restored item.Item
	actions  []table.Action
}

// plan reads the present state and returns how to restore the item.
func (a *Archive) plan(ctx context.Context, t *entity.Type, user, id string) (restoration, error) {
	it, err := table.Find(ctx, a.Store, entity.ItemKey(user, entity.Ref{Type: t.Name, ID: id}))
	if err != nil {
		return restoration{}, err
	}
	switch {
	case it == nil:
		return a.fromCopy(ctx, t, user, id)
	case !entity.Expired(it, a.Now()):
		return restoration{}, ErrAlive
	}
	// Past its ttl and not swept yet: it is still there, and removing the ttl restores it.
	restored := a.revive(t, user, it, it)
	return restoration{restored, []table.Action{
		table.Diff(it, restored, table.AtVersion(it.Int(entity.AttrVersion))),
	}}, nil
}

func (a *Archive) fromCopy(ctx context.Context, t *entity.Type, user, itemID string) (restoration, error) {
	cold, err := getCold(ctx, a.Store, user, itemID)
	if err != nil {
		return restoration{}, err
	}
	if cold == nil {
		return restoration{}, ErrNoCopy
	}
	stored, err := a.read(ctx, cold.Str(attrObject))
	if err != nil {
		return restoration{}, err
	}
	if want := entity.ItemKey(user, entity.Ref{Type: t.Name, ID: itemID}); stored.Key() != want {
		return restoration{}, fmt.Errorf("restore %s: %w", want, ErrForeign)
	}
	gone := entity.GoneKey(user, itemID)
	deleted, err := table.Find(ctx, a.Store, gone)
	if err != nil {
		return restoration{}, err
	}
	if deleted != nil {
		return restoration{}, ErrGone
	}
	expired := stored.Clone()
	expired[entity.AttrVersion] = item.Int(stored.Int(entity.AttrVersion) + restoredAhead - 1)
	restored := a.revive(t, user, expired, stored)
	return restoration{restored, []table.Action{
		table.Put{Item: restored, If: table.NotExists()},
		table.Check{Key: gone, If: table.NotExists()},
		table.Delete{Key: cold.Key(), If: table.Exists(table.Equal(entity.AttrVersion, cold[entity.AttrVersion]))},
	}}, nil
}

// revive returns the restored item, one version after before.
func (a *Archive) revive(t *entity.Type, user string, before, it item.Item) item.Item {
	restored := t.NextVersion(entity.ByUser, user, before, it, a.Now(), nil)
	restored.SetTime(entity.AttrRestoredAt, a.Now())
	return restored
}

// read returns the item in a cold copy.
func (a *Archive) read(ctx context.Context, name string) (item.Item, error) {
	body, err := a.Copies.Get(ctx, name)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, fmt.Errorf("cold copy %s is missing: %w", name, ErrNoCopy)
	}
	if err != nil {
		return nil, fmt.Errorf("get cold copy %s: %w", name, err)
	}
	var stored coldCopy
	if err := json.Unmarshal(body, &stored); err != nil {
		return nil, fmt.Errorf("cold copy %s: %w", name, err)
	}
	it, err := change.ParseItem(stored.Item)
	if err != nil {
		return nil, fmt.Errorf("cold copy %s: %w", name, err)
	}
	return it, nil
}
