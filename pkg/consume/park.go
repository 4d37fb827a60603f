package consume

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/text"
)

// ParkedPrefix begins the names of all parked objects; the consumer's name and a slash follow.
const ParkedPrefix = "parked/"

// maxReasonBytes bounds the part of an error that is stored as the reason.
const maxReasonBytes = 4000

// Parked is a record that one consumer could not process, as it is stored.
type Parked struct {
	Consumer string          `json:"consumer"`
	Reason   string          `json:"reason"`
	ParkedAt time.Time       `json:"parkedAt"` // whole seconds, UTC
	Record   json.RawMessage `json:"record"`   // byte for byte as it was delivered
}

// Body returns the object's stored form.
func (p Parked) Body() []byte {
	// Written by hand: encoding/json would encode the record again.
	out := appendText([]byte(`{"consumer":`), p.Consumer)
	out = appendText(append(out, `,"reason":`...), p.Reason)
	out = appendText(append(out, `,"parkedAt":`...), item.FormatInstant(p.ParkedAt))
	out = append(append(out, `,"record":`...), p.Record...)
	return append(out, '}')
}

// appendText quotes a text and replaces invalid UTF-8 by U+FFFD; the error reports only such a replacement.
func appendText(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// ReadParked is the inverse of [Parked.Body].
func ReadParked(body []byte) (Parked, error) {
	var p Parked
	if err := json.Unmarshal(body, &p); err != nil {
		return Parked{}, fmt.Errorf("read parked object: %w", err)
	}
	if p.Consumer == "" || len(p.Record) == 0 {
		return Parked{}, errors.New("read parked object: no consumer or no record")
	}
	return p, nil
}

// park stores the record for the consumer; only then is it finished.
func (d *batchRun) park(ctx context.Context, i int) {
	p := &d.records[i]
	name := parkedName(d.consumer.Name(), d.batch[i])
	body := Parked{
		Consumer: d.consumer.Name(), Reason: strings.ToValidUTF8(text.Clip(p.poison.Error(), maxReasonBytes), ""),
		ParkedAt: d.cfg.Now(), Record: d.batch[i].Raw,
	}.Body()
	if err := d.cfg.Parking.Put(ctx, name, body); err != nil {
		d.failed(i, fmt.Errorf("park %s: %w", name, err))
		return
	}
	p.finished, p.parked = true, true
	d.cfg.Log.LogAttrs(ctx, slog.LevelWarn, "record parked",
		slog.String("consumer", d.consumer.Name()), slog.String("object", name),
		slog.String("traceId", d.batch[i].Change.TraceID()), slog.Any("reason", p.poison))
}

// parkedName returns the same name for the same record and consumer, so that a record delivered again is stored once.
// It differs for any two records: bookkeeping changes an item without a new version, so the version alone is not
// enough. Ids are unique per user and differ between types. All parts of the name have only letters, digits, _ and -
// in them, but for the point that begins what stands in place of an id: no user and no item has such an id.
//
// A name has the user wherever the key names one, so that the records of a user can be listed.
func parkedName(consumer string, rec change.Decoded) string {
	prefix := ParkedPrefix + consumer + "/"
	if c := rec.Change; rec.Err == nil && c.Type != nil {
		return prefix + c.User + "/" + c.Ref.ID + "/" + strconv.FormatInt(c.Version, 10) + "-" + c.Sequence + ".json"
	}
	user, known := rec.Owner()
	if known && change.IsSequence(rec.Sequence) {
		return prefix + user + "/." + digest([]byte(rec.Key.PK+"\x00"+rec.Key.SK)) + "/" + rec.Sequence + ".json"
	}
	if known {
		return prefix + user + "/." + digest(rec.Raw) + "/0.json" // the one record of this text without a number
	}
	return prefix + Unreadable + digest(rec.Raw) + ".json"
}

// Unreadable is the folder of a consumer's parked objects that name no user. Their records may hold one.
const Unreadable = ".unreadable/"

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
