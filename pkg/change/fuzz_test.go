package change_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/product"
)

// FuzzDecode: no payload makes the decoder panic or lose a record's bytes, and what it could read it writes so that it
// reads the same again.
func FuzzDecode(f *testing.F) {
	types := product.Registry()
	f.Add(change.AppendEvent(nil, batch(1)))
	full := modified("task_1", 3)
	full.New = everyType()
	f.Add(change.AppendEvent(nil, []change.Record{full, {Name: change.Remove, Old: task("task_2", 1), Expired: true}}))
	f.Add([]byte(`{"a":1,"Records":[{"dynamodb":{"SequenceNumber":"1","Keys":{"PK":{"S":"x"},"SK":{"S":"y"}}}}, 7]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		decoded, err := change.Decode(payload, types)
		if err != nil {
			require.ErrorIs(t, err, change.ErrMalformedEvent)
			return
		}
		for _, d := range decoded {
			rec, err := change.Parse(d.Raw)
			if d.Err == nil {
				require.NoError(t, err)
			}
			require.Equal(t, d.Sequence, rec.Sequence)
			require.Equal(t, d.Key, rec.Key)
			if err != nil {
				require.ErrorIs(t, d.Err, change.ErrUndecodable)
				continue
			}
			raw := change.AppendRecord(nil, rec)
			again, err := change.Parse(raw)
			require.NoError(t, err)
			require.Equal(t, rec, again)
			c, err := change.Interpret(types, again)
			require.Equal(t, d.Err == nil, err == nil)
			if err == nil {
				c.Raw = d.Raw
				require.Equal(t, d.Change, c)
			}
		}
	})
}
