package series_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/wallclock"
)

const (
	user     = "u1"
	masterID = "mst_standup"
)

// newMaster is a valid series of the fields, as a command would store it.
func newMaster(t *testing.T, fields item.Item) item.Item {
	t.Helper()
	merged := item.Item{
		entity.AttrTitle: item.String("standup"), entity.AttrStatus: item.String(product.StatusConfirmed),
		product.AttrIsAllDay: item.Bool(false),
	}
	for name, v := range fields {
		merged[name] = v
	}
	it := product.Master().NewItem(user, masterID, merged, at("2025-01-01T00:00:00Z"), nil)
	require.Empty(t, product.Master().Validate(it))
	return it
}

// weekly is nine o'clock in New York on Mondays, for half an hour.
func weekly(t *testing.T, more item.Item) item.Item {
	fields := item.Item{
		product.AttrStartUtc: item.String("2025-01-06T14:00:00Z"), product.AttrEndUtc: item.String("2025-01-06T14:30:00Z"),
		product.AttrStartTzid: item.String("America/New_York"), product.AttrRRule: item.String("FREQ=WEEKLY;BYDAY=MO"),
	}
	for name, v := range more {
		fields[name] = v
	}
	return newMaster(t, fields)
}

// exception returns the row that a command would store of an occurrence with these fields of its own.
func exception(date string, own item.Item, modified ...string) item.Item {
	id := entity.InstanceID(masterID, date)
	fields := own.Clone()
	var names item.List
	for _, name := range modified {
		names = append(names, item.String(name))
	}
	fields.Set(product.AttrModifiedFields, names)
	return product.Instance().NewItem(user, id, fields, at("2025-02-01T00:00:00Z"), nil)
}

func moved(date, start, end string) item.Item {
	return exception(date, item.Item{
		product.AttrStartUtc: item.String(start), product.AttrEndUtc: item.String(end),
		product.AttrStartTzid: item.String("America/New_York"),
	}, product.AttrStartUtc, product.AttrEndUtc)
}

func cancelled(date string) item.Item {
	return exception(date, item.Item{entity.AttrStatus: item.String(product.StatusCancelled)}, entity.AttrStatus)
}

func newSeries(t *testing.T, zone string, master item.Item, instances ...item.Item) *series.Series {
	t.Helper()
	location, err := wallclock.LoadLocation(zone)
	require.NoError(t, err)
	s, err := series.New(master, location, instances...)
	require.NoError(t, err)
	return s
}

func at(text string) time.Time {
	t, err := item.ParseInstant(text)
	if err != nil {
		panic(err)
	}
	return t
}

// spans writes occurrences as date, start and end.
func spans(occurrences []series.Occurrence) []string {
	var out []string
	for _, o := range occurrences {
		out = append(out, o.Date+" "+item.FormatInstant(o.Start)+" "+item.FormatInstant(o.End))
	}
	return out
}
