package change

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"nexus/pkg/item"
)

// Parse reads one record in the form in which Lambda receives it: the inverse of [AppendRecord]. It skips unknown
// members. An error wraps [ErrUndecodable]; the record returned with it holds every part that could be read.
func Parse(raw []byte) (Record, error) {
	r := newReader(raw)
	rec, err := r.record()
	if err = r.alone(err); err != nil {
		return rec, fmt.Errorf("%w: %w", ErrUndecodable, err)
	}
	return rec, nil
}

// record reads the next value as a record and always consumes it whole. The error is the first mistake in it. The
// other members are read all the same, so that a bad image costs neither key nor sequence number.
func (r *reader) record() (rec Record, err error) {
	err = r.members(
		member{"eventID", func() error { return r.textInto(&rec.EventID) }},
		member{"eventName", func() error { return r.textInto((*string)(&rec.Name)) }},
		member{"eventSourceARN", func() error { return r.textInto(&rec.SourceARN) }},
		member{"userIdentity", func() error { return r.identityInto(&rec.Expired) }},
		member{"dynamodb", func() error { return r.changeInto(&rec) }},
	)
	return rec, err
}

// changeInto reads the member dynamodb.
func (r *reader) changeInto(rec *Record) error {
	return r.members(
		member{"ApproximateCreationDateTime", func() error { return r.secondsInto(&rec.Created) }},
		member{"Keys", func() error { return r.keyInto(&rec.Key) }},
		member{"NewImage", func() error { return r.imageInto(&rec.New) }},
		member{"OldImage", func() error { return r.imageInto(&rec.Old) }},
		member{"SequenceNumber", func() error { return r.textInto(&rec.Sequence) }},
	)
}

// identityInto reads the member userIdentity. Only the identity of the TTL service makes a removal an expiry.
func (r *reader) identityInto(expired *bool) error {
	if r.json.PeekKind() == jsontext.KindNull {
		return r.skip()
	}
	var kind, principal string
	err := r.members(
		member{"type", func() error { return r.textInto(&kind) }},
		member{"principalId", func() error { return r.textInto(&principal) }},
	)
	*expired = kind == identityService && principal == identityPrincipal
	return err
}

// keyInto reads the member Keys: PK and SK, both strings.
func (r *reader) keyInto(key *item.Key) error {
	it := make(item.Item, 2)
	if err := r.attributesInto(it, 0); err != nil {
		return err
	}
	*key = it.Key()
	if len(it) != 2 || it[item.AttrPK] != item.String(key.PK) || it[item.AttrSK] != item.String(key.SK) {
		return fmt.Errorf("want the strings %s and %s", item.AttrPK, item.AttrSK)
	}
	return nil
}

// imageInto reads an image; null means absent.
func (r *reader) imageInto(dst *item.Item) error {
	if r.json.PeekKind() == jsontext.KindNull {
		return r.skip()
	}
	it, err := r.image()
	*dst = it
	return err
}

// maxSeconds is the end of the year 9999. Later times have no text form.
const maxSeconds = 253402300799

// secondsInto reads a time in seconds since the epoch, which a sender may write with a fraction or an exponent; a
// fraction is cut off.
func (r *reader) secondsInto(dst *time.Time) error {
	v, err := r.value()
	if err != nil {
		return err
	}
	if v.Kind() != jsontext.KindNumber {
		return fmt.Errorf("want number, have %v", v.Kind())
	}
	seconds, err := strconv.ParseFloat(string(v), 64)
	if err != nil || seconds < 0 || seconds > maxSeconds {
		return fmt.Errorf("%.30s is no time in seconds since the epoch", v)
	}
	*dst = time.Unix(int64(seconds), 0).UTC()
	return nil
}

func (r *reader) textInto(dst *string) error {
	s, err := r.text()
	*dst = s
	return err
}

// member says how to read one member of an object.
type member struct {
	name string
	read func() error
}

// members reads an object and always consumes it whole. It skips members that are not listed. The error is the first
// wrong member; the others are still read.
func (r *reader) members(known ...member) error {
	depth := r.json.StackDepth()
	if err := r.begin(jsontext.KindBeginObject); err != nil {
		return errors.Join(err, r.leave(depth))
	}
	var wrong error
	var seen uint // bit i for known[i]
	for r.more() {
		err := r.member(known, &seen)
		if r.leave(depth+1) != nil {
			return r.broken
		}
		if wrong == nil {
			wrong = err
		}
	}
	return errors.Join(wrong, r.end())
}

func (r *reader) member(known []member, seen *uint) error {
	name, err := r.name()
	if err != nil {
		return errors.Join(fmt.Errorf("member name: %w", err), r.skip())
	}
	for i, m := range known {
		if m.name != name {
			continue
		}
		if *seen&(1<<i) != 0 {
			return errors.Join(fmt.Errorf("%s: comes twice", name), r.skip())
		}
		*seen |= 1 << i
		if err := m.read(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	return r.skip()
}
