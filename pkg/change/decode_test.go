package change_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestDecode_makesTheChangeOfEachKindOfRecord(t *testing.T) {
	t.Parallel()
	types := product.Registry()
	meta := entity.MetaKey("user_1").Item()
	meta[entity.AttrType], meta[entity.AttrVersion] = item.String(entity.TypeUserMeta), item.Number("0")
	timer := entity.TimerKey("user_1", "task_1", 4).Item()
	timer["ttl"] = item.Int(1)
	for name, c := range map[string]struct {
		rec  change.Record
		kind change.Kind
		want string // type, id, version
	}{
		"insert": {change.Record{Name: change.Insert, New: task("task_1", 1)}, change.Inserted, "TASK#task_1 1"},
		"modify": {change.Record{Name: change.Modify, Old: task("task_1", 4), New: task("task_1", 5)}, change.Modified,
			"TASK#task_1 5"},
		"remove": {change.Record{Name: change.Remove, Old: task("task_1", 5)}, change.Removed, "TASK#task_1 6"},
		"expiry": {change.Record{Name: change.Remove, Old: task("task_1", 5), Expired: true}, change.Expired,
			"TASK#task_1 6"},
		"user":  {change.Record{Name: change.Insert, New: meta}, change.Inserted, "USER_META#user_1 0"},
		"timer": {change.Record{Name: change.Remove, Old: timer, Expired: true}, change.Expired, "# 0"},
		"service": {change.Record{Name: change.Modify, Old: task("task_1", 4), New: task("task_1", 5), Expired: true},
			change.Modified, "TASK#task_1 5"},
	} {
		rec := c.rec
		rec.Sequence, rec.Created = "100", modified("task_1", 2).Created
		if rec.Key = rec.New.Key(); rec.New == nil {
			rec.Key = rec.Old.Key()
		}
		payload := change.AppendEvent(nil, []change.Record{rec})
		decoded, err := change.Decode(payload, types)
		require.NoError(t, err, name)
		require.Len(t, decoded, 1)
		d := decoded[0]
		require.NoError(t, d.Err, name)
		require.Equal(t, change.AppendRecord(nil, rec), d.Raw, name)
		require.Equal(t, c.kind, d.Change.Kind, name)
		require.Equal(t, c.want, fmt.Sprintf("%v %d", d.Change.Ref, d.Change.Version), name)
		require.Equal(t, types.ByName(d.Change.Ref.Type), d.Change.Type, name)
		require.Equal(t, change.Change{
			Kind: c.kind, Type: d.Change.Type, User: "user_1", Ref: d.Change.Ref, Key: rec.Key, Old: rec.Old, New: rec.New,
			Version: d.Change.Version, Created: rec.Created, Sequence: "100", Raw: d.Raw,
		}, d.Change, name)
	}
}

// wrong lists mistakes in a record by what becomes of its text; good is the modification of task_1 to version 3.
var wrong = map[string]struct{ old, new, reason string }{
	"no event name":          {`"eventName":"MODIFY",`, ``, `unknown eventName ""`},
	"unknown event name":     {`"MODIFY"`, `"TOUCH"`, `unknown eventName "TOUCH"`},
	"event name is a number": {`"MODIFY"`, `7`, `eventName: not a string`},
	"event name twice":       {`"eventName"`, `"eventName":"MODIFY","eventName"`, `eventName: comes twice`},
	"no sequence":            {`"SequenceNumber":"000000000000000000003",`, ``, `sequence number ""`},
	"sequence with a sign":   {`000000000000000000003`, `-3`, `sequence number "-3"`},
	"no dynamodb":            {`"dynamodb":`, `"dynamo":`, `sequence number ""`},
	"dynamodb is a list":     {`"dynamodb":`, `"dynamodb":[{}],"then":`, `dynamodb: want {, have [`},
	"time is text":           {`1767225600`, `"2026-01-01"`, `want number, have string`},
	"time out of range":      {`1767225600`, `1e300`, `1e300 is no time`},
	"time before 1970":       {`1767225600`, `-1`, `-1 is no time`},
	"no keys":                {`"Keys":`, `"Clues":`, `partition key ""`},
	"key of another type":    {`{"S":"USER#user_1"}`, `{"N":"1"}`, `Keys: want the strings PK and SK`},
	"a third key":            {`"Keys":{`, `"Keys":{"X":{"S":""},`, `Keys: want the strings PK and SK`},
	"partition is no user's": {`USER#user_1`, `GROUP#user_1`, `partition key "GROUP#user_1"`},
	"user with a separator":  {`USER#user_1`, `USER#user_1#2025`, `partition key "USER#user_1#2025"`},
	"sort key without id":    {`TASK#task_1`, `TASK`, `sort key "TASK"`},
	"sort key with too much": {`TASK#task_1`, `TASK#task_1#x`, `sort key "TASK#task_1#x"`},
	"id of another type":     {`TASK#task_1`, `TASK#note_1`, `sort key "TASK#note_1"`},
	"type and key disagree":  {`TASK#task_1`, `NOTE#note_1`, `entityType "TASK" at sort key "NOTE#note_1"`},
	"unknown type":           {`{"S":"TASK"}`, `{"S":"HABIT"}`, `unknown entityType "HABIT"`},
	"type is no string":      {`{"S":"TASK"}`, `{"BOOL":true}`, `entityType is not a string`},
	"no type":                {`"entityType"`, `"entityKind"`, `entityType is not a string`},
	"no version":             {`"version"`, `"revision"`, `version is not a number`},
	"version is a string":    {`{"N":"3"}`, `{"S":"3"}`, `version is not a number`},
	"version is no number":   {`{"N":"3"}`, `{"N":"abc"}`, `version "abc"`},
	"version is a fraction":  {`{"N":"3"}`, `{"N":"2.5"}`, `version "2.5"`},
	"version is zero":        {`{"N":"3"}`, `{"N":"0"}`, `version "0": want a whole number from 1`},
	"version is negative":    {`{"N":"3"}`, `{"N":"-3"}`, `version "-3"`},
	"version is too great":   {`{"N":"3"}`, `{"N":"9223372036854775808"}`, `version "9223372036854775808"`},
	"old version is wrong":   {`{"N":"2"}`, `{"N":"x"}`, `version "x"`},
	"no new image":           {`"NewImage"`, `"NewPicture"`, `MODIFY with NewImage false, want true`},
	"no old image":           {`"OldImage"`, `"OldPicture"`, `MODIFY with OldImage false, want true`},
	"old image at insert":    {`"MODIFY"`, `"INSERT"`, `INSERT with OldImage true, want false`},
	"new image at removal":   {`"MODIFY"`, `"REMOVE"`, `REMOVE with NewImage true, want false`},
	"image of another key": {`"NewImage":{"PK":{"S":"USER#user_1"}`, `"NewImage":{"PK":{"S":"USER#user_2"}`,
		`image of "USER#user_2/TASK#task_1"`},
	"image without key": {`"OldImage":{"PK"`, `"OldImage":{"pk"`, `image of "/TASK#task_1"`},
	"image is a list":   {`"OldImage":`, `"OldImage":[[{}]],"then":`, `OldImage: want {, have [`},
	"attribute twice": {`"version":{"N":"3"}`, `"version":{"N":"3"},"version":{"N":"4"}`,
		`attribute "version": comes twice`},
	"value without type":    {`{"N":"3"}`, `{}`, `attribute "version": no type`},
	"value of two types":    {`{"N":"3"}`, `{"N":"3","S":"3"}`, `attribute "version": more than one type`},
	"flag and another type": {`{"N":"3"}`, `{"BOOL":true,"S":"3"}`, `attribute "version": more than one type`},
	"value of a newer type": {`{"N":"3"}`, `{"V":[1,{"a":2}]}`, `attribute "version": unknown type "V"`},
	"value is bare":         {`{"N":"3"}`, `3`, `attribute "version": want {, have number`},
	"string is a number":    {`{"S":"Water the plants"}`, `{"S":1}`, `attribute "title": not a string`},
	"set with a list": {`{"S":"Water the plants"}`, `{"SS":["a",["b"]]}`,
		`attribute "title": member 1: not a string`},
	"list of a bare list": {`{"S":"Water the plants"}`, `{"L":[[{"S":"x"}]]}`,
		`attribute "title": member 0: want {, have [`},
	"flag is text":         {`{"S":"Water the plants"}`, `{"BOOL":"true"}`, `want true or false`},
	"binary is not base64": {`{"S":"Water the plants"}`, `{"B":"?"}`, `illegal base64`},
	"text is not UTF-8":    {`Water`, "\xff", `attribute "title": not UTF-8`},
	"half a surrogate":     {`Water`, `\ud800`, `attribute "title": not UTF-8`},
	"name is not UTF-8":    {`"title"`, "\"\xff\"", `not UTF-8`},
	"nested too deep": {`{"S":"Water the plants"}`,
		strings.Repeat(`{"L":[`, 40) + `{"S":""}` + strings.Repeat(`]}`, 40), `nested more than 32 deep`},
}

func TestDecode_reportsABadRecordAlone(t *testing.T) {
	t.Parallel()
	before, good, after := modified("task_0", 2), modified("task_1", 3), modified("task_2", 4)
	for name, c := range wrong {
		text := string(change.AppendRecord(nil, good))
		require.Contains(t, text, c.old, name)
		bad := strings.ReplaceAll(text, c.old, c.new)
		payload := `{"Records":[` + string(change.AppendRecord(nil, before)) + " ,\n " + bad + " ," +
			string(change.AppendRecord(nil, after)) + `]}`
		decoded, err := change.Decode([]byte(payload), product.Registry())
		require.NoError(t, err, name)
		require.Len(t, decoded, 3, name)
		require.NoError(t, decoded[0].Err, name)
		require.NoError(t, decoded[2].Err, name)
		require.Equal(t, after.New, decoded[2].Change.New, name)

		d := decoded[1]
		require.ErrorIs(t, d.Err, change.ErrUndecodable, name)
		require.ErrorContains(t, d.Err, c.reason, name)
		require.Equal(t, bad, string(d.Raw), name)
		require.Empty(t, d.Change, name)
		if strings.Contains(bad, "SequenceNumber\":\"0") && strings.Contains(bad, `"dynamodb":{`) {
			require.Equal(t, good.Sequence, d.Sequence, name)
		}
	}
}

func TestDecode_keepsKeyAndSequenceNumberBesideABadImage(t *testing.T) {
	t.Parallel()
	good := modified("task_1", 3)
	raw := strings.Replace(string(change.AppendRecord(nil, good)), `{"N":"3"}`, `{"L":[{"M":{"a":{"Q":[[]]}}}]}`, 1)
	rec, err := change.Parse([]byte(raw))
	require.ErrorIs(t, err, change.ErrUndecodable)
	require.Equal(t, good.Key, rec.Key)
	require.Equal(t, good.Sequence, rec.Sequence)
	require.Equal(t, good.Old, rec.Old)
	require.Equal(t, good.SourceARN, rec.SourceARN)
}

func TestDecode_namesARecordThatIsNoObject(t *testing.T) {
	t.Parallel()
	decoded, err := change.Decode([]byte(`{"Records":[7, "x" ,null,[{"a":1}],{}, true]}`), product.Registry())
	require.NoError(t, err)
	var raws []string
	for _, d := range decoded {
		require.ErrorIs(t, d.Err, change.ErrUndecodable)
		raws = append(raws, string(d.Raw))
	}
	require.Equal(t, []string{`7`, `"x"`, `null`, `[{"a":1}]`, `{}`, `true`}, raws)
}

func TestDecode_failsAsAWholeOnlyWithoutRecords(t *testing.T) {
	t.Parallel()
	good := string(change.AppendEvent(nil, batch(1)))
	for _, payload := range []string{``, ` `, `null`, `7`, `[]`, `{}`, `{"records":[]}`, `{"Records":null}`,
		`{"Records":{}}`,
		`{"Records":"x"}`, `{"Records":[]`, `{"Records":[}`, `{"Records":[],"Records":[]}`, `{"Records":[]}{}`,
		`{"Records":[]} x`,
		good[:len(good)-10], good[:len(good)-1], "{\"\xff\":1,\"Records\":[]}",
		`{"Records":[{"a":` + strings.Repeat("[", 20_000) + `}]}`} {
		decoded, err := change.Decode([]byte(payload), product.Registry())
		require.ErrorIs(t, err, change.ErrMalformedEvent, "%.60s", payload)
		require.Nil(t, decoded)
	}
	for _, payload := range []string{`{"Records":[]}`, ` {"window":{"a":[1]}, "Records" : [ ] } `} {
		decoded, err := change.Decode([]byte(payload), product.Registry())
		require.NoError(t, err)
		require.Empty(t, decoded)
	}
}

func TestParse_takesExactlyOneRecord(t *testing.T) {
	t.Parallel()
	raw := string(change.AppendRecord(nil, batch(1)[0]))
	for _, text := range []string{``, raw + raw, raw[1:], raw[:len(raw)-1]} {
		_, err := change.Parse([]byte(text))
		require.ErrorIs(t, err, change.ErrUndecodable, "%.40s", text)
	}
	_, err := change.Parse([]byte(" " + raw + "\n"))
	require.NoError(t, err)
}

func TestTraceID_ofATimersRemovalIsThatOfItsWrite(t *testing.T) {
	t.Parallel()
	completed := change.Change{
		Type: product.Registry().ByName(product.TypeTask), User: "ann", Ref: entity.Ref{Type: product.TypeTask, ID: "task_1"},
		Version: 4,
	}
	timer := change.Change{User: "ann", Key: entity.TimerKey("ann", "task_1", 4)}
	require.Equal(t, entity.TraceID("ann", "task_1", 4), completed.TraceID())
	require.Equal(t, completed.TraceID(), timer.TraceID())
	require.Empty(t, change.Change{}.TraceID())
	counted := change.Change{
		Type: product.Registry().ByName(entity.TypeUserMeta), User: "ann",
		Ref: entity.Ref{Type: entity.TypeUserMeta, ID: "ann"},
	}
	require.Empty(t, counted.TraceID(), "a row that the statistics began")
}
