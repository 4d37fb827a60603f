//go:build predecessor

package before

import (
	"errors"
	"fmt"

	"nexus/pkg/blob"
	"nexus/pkg/bus"
	"nexus/pkg/item"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
	oldblob "nexus/predecessor/blob"
	oldbus "nexus/predecessor/bus"
	oldentity "nexus/predecessor/entity"
	oldschedule "nexus/predecessor/schedule"
	oldtable "nexus/predecessor/table"
)

// ToItem returns the item in the types of the release before; nil stays nil.
func ToItem(it item.Item) oldentity.Item {
	if it == nil {
		return nil
	}
	out := make(oldentity.Item, len(it))
	for name, v := range it {
		out[name] = toValue(v)
	}
	return out
}

func toItems(rows []item.Item) []oldentity.Item {
	out := make([]oldentity.Item, len(rows))
	for i, row := range rows {
		out[i] = ToItem(row)
	}
	return out
}

func toValue(v item.Value) oldentity.Value {
	switch v := v.(type) {
	case item.String:
		return oldentity.String(v)
	case item.Number:
		return oldentity.Number(v)
	case item.Bool:
		return oldentity.Bool(v)
	case item.Null:
		return oldentity.Null{}
	case item.StringSet:
		return oldentity.StringSet(v)
	case item.NumberSet:
		return oldentity.NumberSet(v)
	case item.List:
		out := make(oldentity.List, len(v))
		for i, e := range v {
			out[i] = toValue(e)
		}
		return out
	case item.Map:
		return oldentity.Map(ToItem(item.Item(v)))
	case item.Binary:
		return oldentity.Binary(v)
	case item.BinarySet:
		return oldentity.BinarySet(v)
	}
	return nil
}

// FromItem returns an item of the release before in this release's types; nil stays nil.
func FromItem(it oldentity.Item) item.Item {
	if it == nil {
		return nil
	}
	out := make(item.Item, len(it))
	for name, v := range it {
		out[name] = fromValue(v)
	}
	return out
}

func fromValue(v oldentity.Value) item.Value {
	switch v := v.(type) {
	case oldentity.String:
		return item.String(v)
	case oldentity.Number:
		return item.Number(v)
	case oldentity.Bool:
		return item.Bool(v)
	case oldentity.Null:
		return item.Null{}
	case oldentity.StringSet:
		return item.StringSet(v)
	case oldentity.NumberSet:
		return item.NumberSet(v)
	case oldentity.List:
		out := make(item.List, len(v))
		for i, e := range v {
			out[i] = fromValue(e)
		}
		return out
	case oldentity.Map:
		return item.Map(FromItem(oldentity.Item(v)))
	case oldentity.Binary:
		return item.Binary(v)
	case oldentity.BinarySet:
		return item.BinarySet(v)
	}
	return nil
}

// sentinels are the errors of ports on which callers decide, in this release and in the other.
var sentinels = [...]struct{ this, other error }{
	{table.ErrNotFound, oldtable.ErrNotFound}, {table.ErrConflict, oldtable.ErrConflict},
	{table.ErrThrottled, oldtable.ErrThrottled},
	{table.ErrUnavailable, oldtable.ErrUnavailable}, {table.ErrInvalid, oldtable.ErrInvalid},
	{schedule.ErrThrottled, oldschedule.ErrThrottled}, {schedule.ErrUnavailable, oldschedule.ErrUnavailable},
	{schedule.ErrQuota, oldschedule.ErrQuota}, {schedule.ErrInvalid, oldschedule.ErrInvalid},
	{bus.ErrThrottled, oldbus.ErrThrottled}, {bus.ErrUnavailable, oldbus.ErrUnavailable},
	{bus.ErrInvalid, oldbus.ErrInvalid},
	{blob.ErrNotFound, oldblob.ErrNotFound}, {blob.ErrThrottled, oldblob.ErrThrottled},
	{blob.ErrUnavailable, oldblob.ErrUnavailable},
	{blob.ErrInvalid, oldblob.ErrInvalid},
}

// ToError returns an error of a port as the release before defines it. It wraps the original, so that both can be
// matched.
func ToError(err error) error {
	if err == nil {
		return nil
	}
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		out := &oldtable.ConditionError{}
		for _, f := range failed.Failures {
			out.Failures = append(out.Failures, oldtable.Failure{Index: f.Index, Old: ToItem(f.Old)})
		}
		return out
	}
	for _, s := range sentinels {
		if errors.Is(err, s.this) {
			return fmt.Errorf("%w: %w", s.other, err)
		}
	}
	return err
}

// FromError returns an error of the release before so that it matches this release's errors.
func FromError(err error) error {
	for _, s := range sentinels {
		if errors.Is(err, s.other) && !errors.Is(err, s.this) {
			return fmt.Errorf("%w: %w", s.this, err)
		}
	}
	return err
}
