package webhook

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
)

// Attributes of the rows MSG# and OUT#.
const (
	attrType     = "type"
	attrBody     = "body"
	attrState    = "state"
	attrReason   = "reason"
	attrAttempts = "attempts"
	attrLog      = "log"
	attrNextAt   = "nextAt"
	attrAgain    = "again" // of a row OUT#: the id of the request by which its message is sent again
)

// States of a message.
const (
	StatePending = "pending" // it is to be sent, and has a row OUT#
	StateDone    = "done"    // the endpoint has it
	StateDead    = "dead"    // it is sent no more; the row says why
)

// Reasons why a message is dead.
const (
	reasonFailed   = "failed"   // all attempts failed
	reasonDisabled = "disabled" // its endpoint was disabled
	reasonDeleted  = "deleted"  // its endpoint was deleted
	reasonFull     = "full"     // there were too many
	reasonLate     = "late"     // the record of its event came too late
)

const (
	// Retention is how long a message is kept from its end on.
	Retention = 30 * 24 * time.Hour
	// lateAfter is the age at which an event is told no more: an earlier message of it may have left already.
	lateAfter = 29 * 24 * time.Hour
	// maxBody is the size of a body with the whole item.
	maxBody = 20 << 10
	// idDigits is the number of digits of a message's id behind its prefix.
	idDigits = 26
)

// message is a row MSG# that is about to be put.
type message struct {
	user string
	id   outbox.ID
	typ  string
	body []byte
}

// messageID returns the id of the message to an endpoint about an event: the same on each repetition.
func messageID(hook string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{hook}, parts...), "#")))
	return "msg_" + base32.StdEncoding.EncodeToString(sum[:])[:idDigits]
}

// messageOf returns the message to an endpoint about a record.
func messageOf(hook item.Item, ch change.Change, eventType string) message {
	id := hook.Str(webhookType.IDAttr)
	return message{
		user: ch.User, typ: eventType, body: body(hook, ch, eventType), id: outbox.ID{
			Hook: id, At: ch.Created.UTC(), Version: ch.Version,
			Message: messageID(id, ch.Ref.ID, strconv.FormatInt(ch.Version, 10), eventType),
		},
	}
}

var webhookType = outbox.Webhook()

// body returns the body of a message about a record, as it will be sent.
func body(hook item.Item, ch change.Change, eventType string) []byte {
	begin := appendBegin(nil, eventType, ch.Created)
	named := append(begin, `"id":`...)
	named = append(appendText(named, ch.Ref.ID), ',')
	if hook.Str(outbox.AttrContent) == outbox.ContentFull {
		it := ch.New
		if it == nil { // it was removed: as it was, with the version of its removal
			it = maps.Clone(ch.Old)
			it[entity.AttrVersion] = item.Int(ch.Version)
		}
		full := append(ch.Type.AppendMembers(named[:len(named):len(named)], it), `}}`...)
		if len(full) <= maxBody {
			return full
		}
	}
	return fmt.Appendf(named, `"entityType":%q,"version":%d}}`, ch.Ref.Type, ch.Version)
}

// appendBegin appends the members before those of data.
func appendBegin(out []byte, eventType string, at time.Time) []byte {
	return fmt.Appendf(out, `{"type":%q,"timestamp":%q,"data":{`, eventType, item.FormatInstant(at))
}

// appendText appends a text as JSON.
func appendText(out []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(fmt.Sprintf("webhook: %q: %v", text, err)) // a text always has a JSON form
	}
	return append(out, quoted...)
}

// rows returns the row MSG#, and the row OUT# of a message that is to be sent.
func (m message) rows(now time.Time) (content, out item.Item) {
	content = outbox.MessageKey(m.user, m.id).Item()
	content[attrType], content[attrBody] = item.String(m.typ), item.String(m.body)
	content[attrState] = item.String(StatePending)
	if now.Sub(m.id.At) > lateAfter {
		content[attrState], content[attrReason] = item.String(StateDead), item.String(reasonLate)
		content[entity.AttrTTL] = item.Int(now.Add(Retention).Unix())
		return content, nil
	}
	return content, outRow(m.user, m.id, now)
}

// outRow returns the row of a message whose first attempt is due.
func outRow(user string, id outbox.ID, now time.Time) item.Item {
	row := outbox.OutKey(user, id).Item()
	row[attrAttempts] = item.Int(0)
	row.SetTime(attrNextAt, now.UTC().Truncate(time.Second))
	return row
}
