package command_test

import (
	"fmt"
	"hash/crc32"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// told returns the fields that another calendar states. A field that it can state and does not is null. It can state
// a reminder's status, which our clients cannot.
func told(t *entity.Type, text string) item.Item {
	says := doc(text)
	status, _ := says[entity.AttrStatus].(string)
	if t.Name == product.TypeReminder {
		delete(says, entity.AttrStatus)
	}
	fields, wrong := t.Parse(says)
	if len(wrong) > 0 {
		panic(fmt.Sprint(wrong))
	}
	if status != "" {
		fields[entity.AttrStatus] = item.String(status)
	}
	for _, f := range t.Fields {
		if f.Origin == entity.FromClient && f.Name != entity.AttrLinks && !fields.Has(f.Name) {
			fields[f.Name] = item.Null{}
		}
	}
	return fields
}

// importedID is the id of a thing of a UID in its k-th life.
func importedID(uid string) func(prefix string, k int) string {
	return func(prefix string, k int) string {
		return prefix + "_" + uuid(int(crc32.ChecksumIEEE([]byte(uid)))*1000+k)
	}
}

// thing is something to import. What is stored never says just the same, so each import compares fields.
func thing(t *entity.Type, uid, text string) command.Imported {
	return command.Imported{
		Type: t, UID: uid, ID: importedID(uid), Fields: told(t, text), Stamp: noon,
		Says: func(item.Item, map[item.Key]string, []item.Item) bool { return false },
	}
}

// daily is a series of a UID to import: the standup, each day.
func daily(uid, more string, exceptions ...command.Exception) command.Imported {
	x := thing(product.Master(), uid, `{`+standup+`,"rrule":"FREQ=DAILY"`+more+`}`)
	x.Exceptions = exceptions
	return x
}

// differing is an occurrence of daily on a date of December 2025 with other fields.
func differing(date, text string) command.Exception {
	day := date[:4] + "-" + date[4:6] + "-" + date[6:]
	fields := map[string]any{
		"title": "standup", "startUtc": day + "T14:00:00Z", "endUtc": day + "T14:30:00Z", "startTzid": "America/New_York",
		"status": "CONFIRMED", "isAllDay": false,
	}
	for name, v := range doc(text) {
		fields[name] = v
	}
	t := product.Instance()
	parsed, _ := t.Parse(fields)
	return command.Exception{Date: func(string) string { return date }, Fields: parsed, Stamp: noon}
}

func (b *fixture) imports(things ...command.Imported) []command.ImportResult {
	b.t.Helper()
	results, err := b.service.Import(b.t.Context(), ann, things)
	require.NoError(b.t, err)
	b.trips()
	return results
}

// takes imports one thing that is not refused, and returns its id and what is stored of it.
func (b *fixture) takes(want command.Outcome, x command.Imported) (string, item.Item) {
	b.t.Helper()
	res := b.imports(x)[0]
	require.NoError(b.t, res.Err)
	require.Equal(b.t, want, res.Outcome)
	return res.Ref.ID, b.stored(x.Type, res.Ref.ID)
}
