package deliver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/text"
)

// payloadForm is that of the payload; a service worker shows nothing of a form that it does not know.
const payloadForm = 1

// payload is a message to a device. It has no token, no address of the user and no notes.
type payload struct {
	Form           int    `json:"v"`
	DeliveryID     string `json:"deliveryId"`
	User           string `json:"user"` // a pseudonym: a browser shows nothing of a user who has left it
	ItemType       string `json:"itemType"`
	ItemID         string `json:"itemId"`
	OccurrenceDate string `json:"occurrenceDate,omitempty"`
	Title          string `json:"title,omitempty"`
	OccurrenceUtc  string `json:"occurrenceUtc"`
	DueUtc         string `json:"dueUtc"`
	Silent         bool   `json:"silent"`
	Act            string `json:"act,omitempty"` // the path of the action
}

// maxShownTitle is the length of a title in a payload, in bytes. The other members have less than 1 KB.
const maxShownTitle = 2000

// payload returns the payload of a delivery.
func (d *Deliverer) payload(of delivery, s settings, now time.Time) ([]byte, error) {
	e := of.event
	p := payload{
		Form: payloadForm, DeliveryID: e.DeliveryID, User: d.NameOf(e.UserID), ItemType: e.ItemType, ItemID: e.ItemID,
		OccurrenceDate: e.OccurrenceDate, OccurrenceUtc: e.OccurrenceUtc, DueUtc: e.DueUtc,
		Silent: !e.Notify.Sound || s.isQuiet(now),
	}
	if s.showsTitle {
		p.Title = text.Clip(e.Title, maxShownTitle)
	}
	if hasActions(e.ItemType) {
		p.Act = ActPath + Token{e.UserID, e.DeliveryID, of.deviceID, of.act}.String()
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p); err != nil {
		return nil, fmt.Errorf("encode payload of %s: %w", of.key(), err)
	}
	if out.Len() > MaxPayload {
		p.Title = "" // each of its characters may take six in JSON
		short, err := json.Marshal(p)
		return short, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// settings are those of a user that decide how reminders are told.
type settings struct {
	showsTitle bool
	zone       *time.Location
	// quietFrom and quietTo are minutes of the day; equal for no quiet hours.
	quietFrom, quietTo int
}

// settingsOf reads the settings from USER_META, nil for a user without.
func settingsOf(user string, meta item.Item) settings {
	preferences := product.UserMetaOf(user, meta, time.Time{}).Map(product.AttrPreferences)
	s := settings{zone: product.ZoneOf(meta)}
	s.showsTitle, s.quietFrom, s.quietTo = product.NotificationSettings(preferences)
	return s
}

// isQuiet reports whether the clock in the user's zone stands within the quiet hours, which may pass midnight.
func (s settings) isQuiet(now time.Time) bool {
	if s.quietFrom == s.quietTo {
		return false
	}
	local := now.In(s.zone)
	minute := local.Hour()*60 + local.Minute()
	if s.quietFrom < s.quietTo {
		return s.quietFrom <= minute && minute < s.quietTo
	}
	return s.quietFrom <= minute || minute < s.quietTo
}
