package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/bus"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// Detail types of the events published here.
const (
	TaskArchived = "TaskArchived"
	ItemExpired  = "ItemExpired"
	ItemRestored = "ItemRestored"
)

// Events returns the detail types, of which a deployment announces those that a program subscribes to.
func Events() []string { return []string{TaskArchived, ItemExpired, ItemRestored} }

// Detail is the detail of each of them; events/ has its schema.
type Detail struct {
	DeliveryID string `json:"deliveryId"` // the same on a repetition
	UserID     string `json:"userId"`
	OccurredAt string `json:"occurredAt"`
	ItemType   string `json:"itemType"`
	ItemID     string `json:"itemId"`
	Version    int64  `json:"version"`
}

// announce publishes the event of this record, if the deployment announces events of its type.
func (c *Consumer) announce(ctx context.Context, ch change.Change) error {
	eventType, at := occurrence(ch)
	if !slices.Contains(c.Announces, eventType) {
		return nil
	}
	detail, err := json.Marshal(Detail{
		DeliveryID: deliveryID(eventType, ch), UserID: ch.User, OccurredAt: item.FormatInstant(at),
		ItemType: ch.Ref.Type, ItemID: ch.Ref.ID, Version: ch.Version,
	})
	if err != nil {
		return fmt.Errorf("encode %s: %w", eventType, err)
	}
	if err := c.Bus.Publish(ctx, bus.Event{Type: eventType, Detail: detail, Time: at}); err != nil {
		return fmt.Errorf("publish %s: %w", eventType, err)
	}
	return nil
}

// occurrence returns the event of a record and its time; an empty type for none.
func occurrence(ch change.Change) (eventType string, at time.Time) {
	restoredAt, restored := ch.New.Time(entity.AttrRestoredAt)
	switch {
	case ch.Kind == change.Expired && ch.Type.Retention != nil:
		return ItemExpired, ch.Created
	case restored && ch.New.Str(entity.AttrRestoredAt) != ch.Old.Str(entity.AttrRestoredAt):
		return ItemRestored, restoredAt
	case ch.New.Has(product.AttrArchivedAt) && ch.New.Str(entity.AttrStatus) == product.StatusArchived &&
		ch.Old.Str(entity.AttrStatus) != product.StatusArchived:
		archivedAt, _ := ch.New.Time(product.AttrArchivedAt)
		return TaskArchived, archivedAt
	}
	return "", time.Time{}
}

// deliveryID returns a hash of the values that identify the event, so that a repetition has the same.
func deliveryID(eventType string, ch change.Change) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", eventType, ch.Key, ch.Version))
	return hex.EncodeToString(sum[:16])
}
