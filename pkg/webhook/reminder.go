package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/mask"
)

// reminder has the members of a ReminderDue that messages need (docs/contracts.md, "Events on the bus").
type reminder struct {
	DeliveryID     string `json:"deliveryId"`
	UserID         string `json:"userId"`
	OccurredAt     string `json:"occurredAt"`
	ItemType       string `json:"itemType"`
	ItemID         string `json:"itemId"`
	Title          string `json:"title"`
	OccurrenceUtc  string `json:"occurrenceUtc"`
	OccurrenceDate string `json:"occurrenceDate"`
	DueUtc         string `json:"dueUtc"`
}

// HandleReminder puts the messages about a reminder that is due, by the event's detail. An error is either a
// [*CallError], which no repetition can resolve, or a reason to repeat the event.
func (w *Worker) HandleReminder(ctx context.Context, detail []byte) error {
	var r reminder
	if err := json.Unmarshal(detail, &r); err != nil {
		return &CallError{"is no ReminderDue: " + err.Error()}
	}
	at, err := item.ParseInstant(r.OccurredAt)
	if err != nil || entity.CheckUserID(r.UserID) != nil || r.DeliveryID == "" {
		return &CallError{fmt.Sprintf("lacks an instant, a user or a delivery: %.80q", r.DeliveryID)}
	}
	ctx = mask.With(ctx, r.UserID)
	if w.IsGone != nil { // what is put for a user who is being erased might stay
		if isGone, err := w.IsGone(ctx, r.UserID); isGone || err != nil {
			return err
		}
	}
	hooks, err := w.hooksOf(ctx, r.UserID)
	if err != nil {
		return err
	}
	for _, hook := range hooks {
		if !takes(hook, at) || !asksFor(hook, typeReminderDue) {
			continue
		}
		if err := w.remind(ctx, hook, r, at); err != nil {
			return err
		}
	}
	return nil
}

func (o *Outbox) remind(ctx context.Context, hook item.Item, r reminder, at time.Time) error {
	id := hook.Str(webhookType.IDAttr)
	data := map[string]string{"id": r.ItemID, "entityType": r.ItemType, "deliveryId": r.DeliveryID,
		"occurrenceUtc": r.OccurrenceUtc, "dueUtc": r.DueUtc}
	if r.OccurrenceDate != "" {
		data["occurrenceDate"] = r.OccurrenceDate
	}
	if hook.Str(outbox.AttrContent) == outbox.ContentFull {
		data[entity.AttrTitle] = r.Title
	}
	body, err := json.Marshal(struct {
		Type      string            `json:"type"`
		Timestamp string            `json:"timestamp"`
		Data      map[string]string `json:"data"`
	}{typeReminderDue, item.FormatInstant(at), data})
	if err != nil {
		return fmt.Errorf("encode %s: %w", r.DeliveryID, err)
	}
	return o.submit(ctx, message{
		user: r.UserID, typ: typeReminderDue, body: body,
		id: outbox.ID{Hook: id, At: at, Message: messageID(id, r.DeliveryID)},
	})
}
