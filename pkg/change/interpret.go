package change

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
)

// maxSequenceDigits is the length of the longest sequence number (Amazon DynamoDB Streams API Reference,
// StreamRecord).
const maxSequenceDigits = 40

// Interpret makes a change from a record. It checks only the key and version rules of docs/data-model.md. The caller
// sets Raw. An error wraps [ErrUndecodable].
func Interpret(registry *entity.Registry, rec Record) (Change, error) {
	c, err := interpret(registry, rec)
	if err != nil {
		return Change{}, fmt.Errorf("%w: %w", ErrUndecodable, err)
	}
	return c, nil
}

func interpret(registry *entity.Registry, rec Record) (Change, error) {
	c := Change{Key: rec.Key, Old: rec.Old, New: rec.New, Created: rec.Created, Sequence: rec.Sequence}
	if !IsSequence(rec.Sequence) {
		return Change{}, fmt.Errorf("sequence number %.50q: want 1 to %d digits", rec.Sequence, maxSequenceDigits)
	}
	kind, err := kindOf(rec)
	if err != nil {
		return Change{}, err
	}
	c.Kind = kind
	if c.User, err = entity.ParseUserPK(rec.Key.PK); err != nil {
		if row, ofRepository := repository.ParseRow(rec.Key); ofRepository == nil {
			c.User = row.Repository.User // a row for no consumer; if a filter lets it pass, that is no reason to park it
			return c, nil
		}
		return Change{}, err
	}
	sk, err := entity.ParseSortKey(rec.Key.SK, registry.Types()...)
	if err != nil {
		return Change{}, err
	}
	for _, image := range []item.Item{rec.Old, rec.New} {
		if image != nil && image.Key() != rec.Key {
			return Change{}, fmt.Errorf("image of %q in a record of %q", image.Key(), rec.Key)
		}
	}
	if sk.IsRow() {
		return c, nil
	}
	if err := c.identify(registry, sk); err != nil {
		return Change{}, err
	}
	if err := c.number(); err != nil {
		return Change{}, err
	}
	return c, nil
}

// kindOf returns the kind of the record. It refuses a record without exactly the images of that kind: the stream
// carries both.
func kindOf(rec Record) (Kind, error) {
	var kind Kind
	switch rec.Name {
	case Insert:
		kind = Inserted
	case Modify:
		kind = Modified
	case Remove:
		kind = Removed
		if rec.Expired {
			kind = Expired
		}
	default:
		return 0, fmt.Errorf("unknown eventName %.20q", rec.Name)
	}
	if want := kind != Inserted; want != (rec.Old != nil) {
		return 0, fmt.Errorf("%s with OldImage %t, want %t", rec.Name, !want, want)
	}
	if want := kind == Inserted || kind == Modified; want != (rec.New != nil) {
		return 0, fmt.Errorf("%s with NewImage %t, want %t", rec.Name, !want, want)
	}
	return kind, nil
}

// identify reads the entity's type and id from the key and checks the images against them.
func (c *Change) identify(registry *entity.Registry, sk entity.SortKey) error {
	for _, image := range []item.Item{c.Old, c.New} {
		if image == nil {
			continue
		}
		name, ok := image[entity.AttrType].(item.String)
		if !ok {
			return fmt.Errorf("%s is not a string", entity.AttrType)
		}
		if registry.ByName(string(name)) == nil {
			return fmt.Errorf("unknown %s %.40q", entity.AttrType, string(name))
		}
		if string(name) != sk.Prefix {
			return fmt.Errorf("%s %q at sort key %q", entity.AttrType, string(name), c.Key.SK)
		}
	}
	c.Type = registry.ByName(sk.Prefix)
	c.Ref = sk.Ref()
	if sk.Prefix == entity.TypeUserMeta {
		if c.Ref.ID != c.User {
			return fmt.Errorf("sort key %q in the partition %q", c.Key.SK, c.Key.PK)
		}
		return nil
	}
	if err := entity.CheckID(c.Type.IDPrefix, c.Ref.ID); err != nil {
		return fmt.Errorf("sort key %q: %w", c.Key.SK, err)
	}
	return nil
}

// number sets the change's version from the images'.
func (c *Change) number() error {
	for _, image := range []item.Item{c.Old, c.New} {
		if image == nil {
			continue
		}
		version, err := versionOf(image, c.Ref.Type)
		if err != nil {
			return err
		}
		c.Version = version
	}
	if c.New == nil {
		if c.Version == math.MaxInt64 {
			return errors.New("version has no successor")
		}
		c.Version++
	}
	return nil
}

func versionOf(image item.Item, typeName string) (int64, error) {
	text, ok := image[entity.AttrVersion].(item.Number)
	if !ok {
		return 0, fmt.Errorf("%s is not a number", entity.AttrVersion)
	}
	var least int64 = 1
	if typeName == entity.TypeUserMeta {
		least = 0 // the statistics may be there before the user's first change
	}
	version, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || version < least {
		return 0, fmt.Errorf("%s %.50q: want a whole number from %d", entity.AttrVersion, string(text), least)
	}
	return version, nil
}

// IsSequence reports whether the text is a sequence number: 1 to 40 digits.
func IsSequence(s string) bool {
	if s == "" || len(s) > maxSequenceDigits {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
