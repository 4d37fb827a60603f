package change_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// TestParse_keepsTheBackslashesOfAText: the quoted form of one text may read like another text, also in the image
// beside it.
func TestParse_keepsTheBackslashesOfAText(t *testing.T) {
	t.Parallel()
	texts := []string{`\`, `\\`, `\\\`, `\\\\`, `"`, `\"`, `"\`, `\n`, "\n", ``}
	for _, present := range texts {
		for _, before := range texts {
			rec := modified("task_1", 3)
			rec.New["title"], rec.Old["title"] = item.String(present), item.String(before)
			got, err := change.Parse(change.AppendRecord(nil, rec))
			require.NoError(t, err, "%q, before %q", present, before)
			require.Equal(t, rec, got)
		}
	}
}

func TestParse_refusesARecordThatBreaksOffAnywhere(t *testing.T) {
	t.Parallel()
	rec := modified("task_1", 3)
	rec.New, rec.Old = everyType(), everyType()
	raw := change.AppendRecord(nil, rec)
	for end := range raw {
		_, err := change.Parse(append(make([]byte, 0, end), raw[:end]...)) // without room after it
		require.ErrorIs(t, err, change.ErrUndecodable, "%s", raw[:end])
	}
}

func TestParse_nestsImagesAsDeepAsATableAllows(t *testing.T) {
	t.Parallel()
	for name, nest := range map[string]func(item.Value) item.Value{
		"lists": func(v item.Value) item.Value { return item.List{v} },
		"maps":  func(v item.Value) item.Value { return item.Map{"m": v} },
	} {
		var v item.Value = item.String("innermost")
		for range 32 {
			v = nest(v)
		}
		it := item.Item{"a": v}
		got, err := change.ParseItem(change.AppendItem(nil, it))
		require.NoError(t, err, name)
		require.Equal(t, it, got, name)
		_, err = change.ParseItem(change.AppendItem(nil, item.Item{"a": nest(v)}))
		require.ErrorContains(t, err, "nested more than 32 deep", name)
	}
}

func TestParse_boundsASequenceNumberTo40Digits(t *testing.T) {
	t.Parallel()
	require.True(t, change.IsSequence(strings.Repeat("9", 40)))
	require.False(t, change.IsSequence(strings.Repeat("9", 41)))
	rec := modified("task_1", 3)
	rec.Sequence = strings.Repeat("0", 40)
	c, err := change.Interpret(product.Registry(), rec)
	require.NoError(t, err)
	require.Equal(t, rec.Sequence, c.Sequence)
}

func TestParseItem_returnsTheAttributesThatAppendItemWrote(t *testing.T) {
	t.Parallel()
	it := everyType()
	raw := change.AppendItem(nil, with(with(it, "", nil), "absent", nil))
	got, err := change.ParseItem(raw)
	require.NoError(t, err)
	require.Equal(t, it, got)
	for _, text := range []string{
		"", "7", "null", "[]", `{"a":{"S":"x"}`, `{"a":{"S":"x"}}{}`, `{"a":{"S":"x"}} x`, `{"a":{}}`,
	} {
		it, err := change.ParseItem([]byte(text))
		require.ErrorIs(t, err, change.ErrUndecodable, text)
		require.Nil(t, it, text)
	}
}

func TestParse_takesTimesBetween1970And9999(t *testing.T) {
	t.Parallel()
	rec := modified("task_1", 3)
	for _, at := range []time.Time{time.Unix(0, 0).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)} {
		rec.Created = at
		got, err := change.Parse(change.AppendRecord(nil, rec))
		require.NoError(t, err)
		require.Equal(t, at, got.Created)
	}
	rec.Created = rec.Created.Add(time.Second)
	_, err := change.Parse(change.AppendRecord(nil, rec))
	require.ErrorContains(t, err, "253402300800 is no time in seconds since the epoch")
}

// TestDecode_saysWhatIsWrongWithAMalformedEvent: what an operator reads distinguishes a payload that breaks off
// from one that is no JSON.
func TestDecode_saysWhatIsWrongWithAMalformedEvent(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{``, `{`, `{"Records":[`, `{"Records":[{"dynamodb":{`, `{"window":{"a":`} {
		_, err := change.Decode([]byte(payload), product.Registry())
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, payload)
	}
	for _, payload := range []string{
		`}`, `{"Records":[}`, `{"Records":[{"dynamodb":{]}]}`, `{"window":{"a":]}`, `{"Records":[] x`,
	} {
		_, err := change.Decode([]byte(payload), product.Registry())
		require.ErrorIs(t, err, change.ErrMalformedEvent, payload)
		require.ErrorContains(t, err, "invalid character", payload)
	}
}
