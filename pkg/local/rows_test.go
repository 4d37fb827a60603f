package local_test

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
)

// number is a number as a client's JSON has it.
func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// table returns every row there is.
func (b *fixture) table() map[item.Key]item.Item {
	b.t.Helper()
	rows := map[item.Key]item.Item{}
	require.NoError(b.t, b.walk.Walk(b.t.Context(), 0, 1, func(row item.Item) error {
		rows[row.Key()] = row
		return nil
	}))
	return rows
}

// planned is one schedule, with the item and offset that its payload names.
type planned struct {
	at      time.Time
	payload string
	item    string
	offset  int64
}

// scheduled returns all schedules by name.
func (b *fixture) scheduled() map[string]planned {
	b.t.Helper()
	out := map[string]planned{}
	for _, entry := range b.schedules.All() {
		var call struct {
			ItemID        string `json:"itemId"`
			OffsetMinutes int64  `json:"offsetMinutes"`
		}
		require.NoError(b.t, json.Unmarshal(entry.Payload, &call))
		out[entry.Name] = planned{entry.At, string(entry.Payload), call.ItemID, call.OffsetMinutes}
	}
	return out
}
