package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// Attributes of a COLD row.
const (
	attrObject    = "object"
	attrItemType  = "itemType"
	attrItemID    = "itemId"
	attrExpiresAt = product.AttrExpiresAt
)

// object returns the name of the cold copy of one version of an item.
func object(user, itemID string, version int64) string {
	return CopiesPrefix(user) + itemID + "/" + strconv.FormatInt(version, 10) + ".json"
}

// coldCopy is the form of the object: the item in DynamoDB's JSON, as it was in the table before it had a ttl. So
// every copy of one version is equal.
type coldCopy struct {
	ItemType string          `json:"itemType"`
	ItemID   string          `json:"itemId"`
	Version  int64           `json:"version"`
	Item     json.RawMessage `json:"item"`
}

// expiry returns when an item leaves the table. It leaves if it is in a final state of its type and was not restored
// in that state.
func expiry(t *entity.Type, it item.Item) (at time.Time, leaves bool) {
	keep, final := t.Retention[it.Str(entity.AttrStatus)]
	if !final || it.Has(entity.AttrRestoredAt) {
		return time.Time{}, false
	}
	updated, ok := it.Time(entity.AttrUpdatedAt)
	return updated.Add(keep), ok
}

// keepCopy copies the item that this record left in a final state, if it is still in it, and lets it expire.
func (c *Consumer) keepCopy(ctx context.Context, ch change.Change) error {
	if _, leaves := expiry(ch.Type, ch.New); !leaves || ch.New.Has(entity.AttrTTL) {
		return nil
	}
	it, err := table.Find(ctx, c.Store, ch.Key)
	switch {
	case err != nil:
		return err
	case it.Int(entity.AttrVersion) != ch.Version: // 0 for one that is gone
	case it.Has(entity.AttrTTL):
		return nil
	default:
		if settled, err := c.copyAndExpire(ctx, ch, it); settled || err != nil {
			return err
		}
	}
	// The item is past this version, and a later record handles it. A copy of this version may exist, and no other
	// program knows its name.
	return c.dropUnnamed(ctx, ch.User, ch.Ref.ID, ch.Version)
}

// copyAndExpire writes the copy and then, in one transaction, the ttl and the row that names the copy. settled is
// false if the item changed in between.
func (c *Consumer) copyAndExpire(ctx context.Context, ch change.Change, it item.Item) (settled bool, err error) {
	lasting := it.Clone()
	delete(lasting, entity.AttrTTL)
	ref := entity.Ref{Type: ch.Type.Name, ID: ch.Ref.ID}
	name, err := c.putCopy(ctx, ch.User, ref, lasting)
	if err != nil {
		return false, err
	}
	at, _ := expiry(ch.Type, it)
	ttl := item.Int(at.Unix())
	cold := coldRow(ch.User, ch.Type, ref, it, name, at)
	err = c.Store.Transact(ctx,
		table.Update{Key: it.Key(), Set: item.Item{entity.AttrTTL: ttl}, If: table.AtVersion(it.Int(entity.AttrVersion))},
		table.Put{Item: cold, If: table.OrNoRow(table.Missing(entity.AttrForm))},
	)
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		row, _ := failed.At(1)
		return false, entity.CheckForm(row.Old, entity.AttrForm)
	}
	if err != nil {
		return false, fmt.Errorf("let %s expire: %w", it.Key(), err)
	}
	return true, nil
}

// putCopy writes the cold copy of an item, without a ttl, and returns its name.
func (cfg Config) putCopy(ctx context.Context, user string, ref entity.Ref, it item.Item) (name string, err error) {
	version := it.Int(entity.AttrVersion)
	name = object(user, ref.ID, version)
	body, err := json.Marshal(coldCopy{ref.Type, ref.ID, version, change.AppendItem(nil, it)})
	if err != nil {
		return "", fmt.Errorf("encode cold copy: %w", err)
	}
	if err := cfg.Copies.Put(ctx, name, body); err != nil {
		return "", fmt.Errorf("put cold copy %s: %w", name, err)
	}
	return name, nil
}

// coldRow returns the row that names an item's cold copy.
func coldRow(user string, t *entity.Type, ref entity.Ref, it item.Item, name string, at time.Time) item.Item {
	cold := entity.ColdKey(user, ref.ID).Item()
	cold[attrObject] = item.String(name)
	cold[entity.AttrVersion] = it[entity.AttrVersion]
	cold[attrItemType] = item.String(ref.Type)
	cold[attrItemID] = item.String(ref.ID)
	cold.Set(entity.AttrTitle, it[entity.AttrTitle])
	t.LeaveIn(cold, it)
	cold.SetTime(attrExpiresAt, at)
	return cold
}

// dropOldCopy removes the copy of the version before this record's change: the item was edited, reopened, deleted, or
// restored. An item that TTL removed keeps its copy, which exists for that case.
func (c *Consumer) dropOldCopy(ctx context.Context, ch change.Change) error {
	if ch.Kind == change.Expired {
		return nil
	}
	if ch.Old == nil {
		if _, restored := ch.New.Time(entity.AttrRestoredAt); restored {
			// The removal counted as one version after the copy, and the restoration as another.
			return c.dropUnnamed(ctx, ch.User, ch.Ref.ID, ch.Version-restoredAhead)
		}
		return nil
	}
	if _, left := ch.Type.Retention[ch.Old.Str(entity.AttrStatus)]; !left {
		return nil
	}
	old := ch.Old.Int(entity.AttrVersion)
	if old == ch.Version {
		return nil // bookkeeping: the ttl of this very version
	}
	err := c.Store.Delete(ctx, table.Delete{
		Key: entity.ColdKey(ch.User, ch.Ref.ID),
		If:  table.OrNoRow(table.Equal(entity.AttrVersion, item.Int(old)), table.Missing(entity.AttrForm)),
	})
	var failed *table.ConditionError
	switch {
	case errors.As(err, &failed):
		if err := entity.CheckForm(failed.Failures[0].Old, entity.AttrForm); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("delete cold row: %w", err)
	}
	// No row names that version now or later: the item is past it.
	return c.dropObject(ctx, object(ch.User, ch.Ref.ID, old))
}

// dropUnnamed removes a copy of a version that the item is past, unless the cold row names it.
func (c *Consumer) dropUnnamed(ctx context.Context, user, itemID string, version int64) error {
	cold, err := getCold(ctx, c.Store, user, itemID)
	if err != nil || cold.Int(entity.AttrVersion) == version {
		return err
	}
	return c.dropObject(ctx, object(user, itemID, version))
}

func (c *Consumer) dropObject(ctx context.Context, name string) error {
	if err := c.Copies.Delete(ctx, name); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("delete cold copy %s: %w", name, err)
	}
	return nil
}
