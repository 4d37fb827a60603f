package change

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"nexus/pkg/entity"
)

// Parse reads one record in the form in which Lambda receives it: the inverse of [AppendRecord]. Members it does not
// know are skipped. An error wraps [ErrUndecodable]; the record returned with it holds whatever could be read.
func Parse(raw []byte) (Record, error) {
	r := newReader(raw)
	rec, err := r.record()
	if r.broken == nil {
		if _, extra := r.json.ReadToken(); extra != io.EOF {
			err = errors.Join(err, errors.New("more than one JSON value"))
		}
	}
	if err = errors.Join(r.broken, err); err != nil {
		return rec, fmt.Errorf("%w: %w", ErrUndecodable, err)
	}
	return rec, nil
}

// record reads the next value as a record and stands behind it afterwards, whatever is wrong in it. The error is the
// first thing wrong; the other members are read all the same, so that a bad image costs neither key nor sequence number.
func (r *reader) record() (Record, error) {
	var rec Record
	wrong := r.members(func(name string) error {
		switch name {
		case "eventID":
			return r.textInto(&rec.EventID)
		case "eventName":
			return r.textInto((*string)(&rec.Name))
		case "eventSourceARN":
			return r.textInto(&rec.SourceARN)
		case "userIdentity":
			return r.identityInto(&rec)
		case "dynamodb":
			return r.changeInto(&rec)
		}
		return r.skip()
	})
	return rec, wrong
}

// changeInto reads the member dynamodb.
func (r *reader) changeInto(rec *Record) error {
	return r.members(func(name string) (err error) {
		switch name {
		case "ApproximateCreationDateTime":
			rec.Created, err = r.seconds()
			return err
		case "Keys":
			return r.keyInto(&rec.Key)
		case "NewImage":
			rec.New, err = r.optionalImage()
			return err
		case "OldImage":
			rec.Old, err = r.optionalImage()
			return err
		case "SequenceNumber":
			return r.textInto(&rec.Sequence)
		}
		return r.skip()
	})
}

// identityInto reads the member userIdentity. Only the identity of the TTL service makes a removal an expiry.
func (r *reader) identityInto(rec *Record) error {
	if r.json.PeekKind() == jsontext.KindNull {
		return r.skip()
	}
	var kind, principal string
	err := r.members(func(name string) error {
		switch name {
		case "type":
			return r.textInto(&kind)
		case "principalId":
			return r.textInto(&principal)
		}
		return r.skip()
	})
	rec.Expired = kind == identityService && principal == identityPrincipal
	return err
}

// keyInto reads the member Keys: PK and SK, both strings.
func (r *reader) keyInto(key *entity.Key) error {
	it := make(entity.Item, 2)
	if err := r.attributesInto(it, 0); err != nil {
		return err
	}
	*key = it.Key()
	if len(it) != 2 || it[entity.AttrPK] != entity.String(key.PK) || it[entity.AttrSK] != entity.String(key.SK) {
		return fmt.Errorf("want the strings %s and %s", entity.AttrPK, entity.AttrSK)
	}
	return nil
}

func (r *reader) optionalImage() (entity.Item, error) {
	if r.json.PeekKind() == jsontext.KindNull {
		return nil, r.skip()
	}
	return r.image()
}

// seconds reads a time in seconds since the epoch, which a sender may write with a fraction or an exponent; a fraction
// is cut off.
func (r *reader) seconds() (time.Time, error) {
	v, err := r.value()
	if err != nil {
		return time.Time{}, err
	}
	if v.Kind() != jsontext.KindNumber {
		return time.Time{}, fmt.Errorf("want number, have %v", v.Kind())
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f < 0 || f > maxSeconds {
		return time.Time{}, fmt.Errorf("%.30s is no time in seconds since the epoch", v)
	}
	return time.Unix(int64(math.Floor(f)), 0).UTC(), nil
}

// maxSeconds is the end of the year 9999, behind which no time has a text form.
const maxSeconds = 253402300799

func (r *reader) textInto(dst *string) error {
	s, err := r.text()
	*dst = s
	return err
}

// members reads an object: each calls a method that reads the named member's value. The first wrong member is the error,
// the others are still read.
func (r *reader) members(each func(name string) error) error {
	depth := r.json.StackDepth()
	if err := r.begin(jsontext.KindBeginObject); err != nil {
		return errors.Join(err, r.leave(depth))
	}
	var wrong error
	seen := make(map[string]bool, 12)
	for r.more() {
		name, err := r.name()
		switch {
		case err != nil:
			err = errors.Join(fmt.Errorf("member name: %w", err), r.skip())
		case seen[name]:
			err = errors.Join(fmt.Errorf("%.80s: comes twice", name), r.skip())
		default:
			seen[name] = true
			if err = each(name); err != nil {
				err = fmt.Errorf("%.80s: %w", name, err)
			}
		}
		if r.leave(depth+1) != nil {
			return r.broken
		}
		if wrong == nil {
			wrong = err
		}
	}
	if err := r.end(); err != nil {
		return err
	}
	return wrong
}
