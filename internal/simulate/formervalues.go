//go:build predecessor

package simulate

import (
	"errors"
	"fmt"

	"nexus/pkg/blob"
	"nexus/pkg/bus"
	"nexus/pkg/entity"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
	oldblob "nexus/predecessor/blob"
	oldbus "nexus/predecessor/bus"
	oldentity "nexus/predecessor/entity"
	oldschedule "nexus/predecessor/schedule"
	oldtable "nexus/predecessor/table"
)

// toOld is an item in the other release's types; nil stays nil.
func toOld(it entity.Item) oldentity.Item {
	if it == nil {
		return nil
	}
	out := make(oldentity.Item, len(it))
	for name, v := range it {
		out[name] = toOldValue(v)
	}
	return out
}

func allToOld(rows []entity.Item) []oldentity.Item {
	out := make([]oldentity.Item, len(rows))
	for i, row := range rows {
		out[i] = toOld(row)
	}
	return out
}

func toOldValue(v entity.Value) oldentity.Value {
	switch v := v.(type) {
	case entity.String:
		return oldentity.String(v)
	case entity.Number:
		return oldentity.Number(v)
	case entity.Bool:
		return oldentity.Bool(v)
	case entity.Null:
		return oldentity.Null{}
	case entity.StringSet:
		return oldentity.StringSet(v)
	case entity.NumberSet:
		return oldentity.NumberSet(v)
	case entity.List:
		out := make(oldentity.List, len(v))
		for i, e := range v {
			out[i] = toOldValue(e)
		}
		return out
	case entity.Map:
		return oldentity.Map(toOld(entity.Item(v)))
	case entity.Binary:
		return oldentity.Binary(v)
	case entity.BinarySet:
		return oldentity.BinarySet(v)
	}
	return nil
}

// fromOld is an item of the other release in this one's types; nil stays nil.
func fromOld(it oldentity.Item) entity.Item {
	if it == nil {
		return nil
	}
	out := make(entity.Item, len(it))
	for name, v := range it {
		out[name] = fromOldValue(v)
	}
	return out
}

func fromOldValue(v oldentity.Value) entity.Value {
	switch v := v.(type) {
	case oldentity.String:
		return entity.String(v)
	case oldentity.Number:
		return entity.Number(v)
	case oldentity.Bool:
		return entity.Bool(v)
	case oldentity.Null:
		return entity.Null{}
	case oldentity.StringSet:
		return entity.StringSet(v)
	case oldentity.NumberSet:
		return entity.NumberSet(v)
	case oldentity.List:
		out := make(entity.List, len(v))
		for i, e := range v {
			out[i] = fromOldValue(e)
		}
		return out
	case oldentity.Map:
		return entity.Map(fromOld(oldentity.Item(v)))
	case oldentity.Binary:
		return entity.Binary(v)
	case oldentity.BinarySet:
		return entity.BinarySet(v)
	}
	return nil
}

// sentinels are the errors of ports on which callers decide, in this release and in the other.
var sentinels = [...]struct{ this, other error }{
	{table.ErrNotFound, oldtable.ErrNotFound}, {table.ErrConflict, oldtable.ErrConflict}, {table.ErrThrottled, oldtable.ErrThrottled},
	{table.ErrUnavailable, oldtable.ErrUnavailable}, {table.ErrInvalid, oldtable.ErrInvalid},
	{schedule.ErrThrottled, oldschedule.ErrThrottled}, {schedule.ErrUnavailable, oldschedule.ErrUnavailable},
	{schedule.ErrQuota, oldschedule.ErrQuota}, {schedule.ErrInvalid, oldschedule.ErrInvalid},
	{bus.ErrThrottled, oldbus.ErrThrottled}, {bus.ErrUnavailable, oldbus.ErrUnavailable}, {bus.ErrInvalid, oldbus.ErrInvalid},
	{blob.ErrNotFound, oldblob.ErrNotFound}, {blob.ErrThrottled, oldblob.ErrThrottled}, {blob.ErrUnavailable, oldblob.ErrUnavailable},
	{blob.ErrInvalid, oldblob.ErrInvalid},
}

// toOldError is an error of a port as the other release knows it. What it wraps stays, so that both can be told.
func toOldError(err error) error {
	if err == nil {
		return nil
	}
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		out := &oldtable.ConditionError{}
		for _, f := range failed.Failures {
			out.Failures = append(out.Failures, oldtable.Failure{Index: f.Index, Old: toOld(f.Old)})
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

// fromOldError makes an error of the other release one that this one's judge can read.
func fromOldError(err error) error {
	for _, s := range sentinels {
		if errors.Is(err, s.other) && !errors.Is(err, s.this) {
			return fmt.Errorf("%w: %w", s.this, err)
		}
	}
	return err
}
