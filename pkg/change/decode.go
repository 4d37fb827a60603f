package change

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
)

var (
	// ErrUndecodable says that this record can never become a [Change].
	ErrUndecodable = errors.New("undecodable record")
	// ErrMalformedEvent says that the payload is no JSON object with an array of records, so no record of it can be
	// named.
	ErrMalformedEvent = errors.New("malformed stream event")
)

// Decoded is the result of decoding one record of an event.
type Decoded struct {
	// Change is complete if Err is nil; otherwise it is empty.
	Change Change
	// Raw is the record's part of the payload.
	Raw []byte
	// Sequence and Key are set as far as they could be read; with an Err they may be empty.
	Sequence string
	Key      item.Key
	// Err wraps [ErrUndecodable].
	Err error
}

// Owner returns the user in whose partition the row is, by the key alone; not ok if the key names none.
func (d Decoded) Owner() (user string, ok bool) {
	if user, err := entity.ParseUserPK(d.Key.PK); err == nil {
		return user, true
	}
	return repository.Owner(d.Key.PK)
}

// Decode reads the event in which Lambda delivers a batch, in one pass. There is one result for each record, in order,
// and a bad record has its own error. Only a payload that is no JSON object with an array Records is an error as a
// whole ([ErrMalformedEvent]). Of the results, only Raw shares memory with the payload.
func Decode(payload []byte, registry *entity.Registry) ([]Decoded, error) {
	r := newReader(payload)
	out, err := r.event(registry)
	if err = r.alone(err); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformedEvent, err)
	}
	return out, nil
}

func (r *reader) event(registry *entity.Registry) ([]Decoded, error) {
	if err := r.begin(jsontext.KindBeginObject); err != nil {
		return nil, err
	}
	var out []Decoded
	found := false
	for r.more() {
		name, err := r.name()
		if err != nil {
			return nil, err
		}
		if name != "Records" {
			if err := r.skip(); err != nil {
				return nil, err
			}
			continue
		}
		if found {
			return nil, errors.New("Records comes twice")
		}
		found = true
		if out, err = r.records(registry); err != nil {
			return nil, err
		}
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	if !found {
		return nil, errors.New("no Records")
	}
	return out, nil
}

// typicalRecordBytes only sizes the result.
const typicalRecordBytes = 4000

func (r *reader) records(registry *entity.Registry) ([]Decoded, error) {
	if err := r.begin(jsontext.KindBeginArray); err != nil {
		return nil, err
	}
	out := make([]Decoded, 0, len(r.payload)/typicalRecordBytes+1)
	for r.more() {
		// The bytes up to the record are at most a comma and white space.
		before := r.json.InputOffset()
		rec, err := r.record()
		if r.broken != nil {
			return nil, r.broken
		}
		out = append(out, decoded(registry, rec, trim(r.raw(before)), err))
	}
	return out, r.end()
}

func decoded(registry *entity.Registry, rec Record, raw []byte, err error) Decoded {
	d := Decoded{Raw: raw, Sequence: rec.Sequence, Key: rec.Key}
	if err == nil {
		d.Change, err = interpret(registry, rec)
	}
	if err != nil {
		d.Err = fmt.Errorf("%w: %w", ErrUndecodable, err)
		return d
	}
	d.Change.Raw = raw
	return d
}

// trim removes the separators between the members of a JSON array.
func trim(raw []byte) []byte {
	for i, c := range raw {
		switch c {
		case ',', ' ', '\t', '\r', '\n':
		default:
			return raw[i:]
		}
	}
	return nil
}
