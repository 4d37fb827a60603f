package change_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
)

func TestAppendRecord_writesARecordAsLambdaReceivesIt(t *testing.T) {
	t.Parallel()
	key := item.Key{PK: "USER#u1", SK: "NOTE#note_1"}
	rec := change.Record{
		EventID: "7de3041d", Name: change.Remove, Sequence: "4421584500000000017450439092",
		Created: time.Unix(1479499740, 999).UTC(), Key: key, Old: key.Item(), Expired: true, SourceARN: streamARN,
	}
	rec.Old["title"] = item.String("a \"quoted\"\n<line>")
	require.Equal(t, `{"eventID":"7de3041d","eventName":"REMOVE","eventVersion":"1.1","eventSource":"aws:dynamodb",`+
		`"awsRegion":"eu-central-1","dynamodb":{"ApproximateCreationDateTime":1479499740,`+
		`"Keys":{"PK":{"S":"USER#u1"},"SK":{"S":"NOTE#note_1"}},`+
		`"OldImage":{"PK":{"S":"USER#u1"},"SK":{"S":"NOTE#note_1"},"title":{"S":"a \"quoted\"\n<line>"}},`+
		`"SequenceNumber":"4421584500000000017450439092","SizeBytes":66,"StreamViewType":"NEW_AND_OLD_IMAGES"},`+
		`"userIdentity":{"type":"Service","principalId":"dynamodb.amazonaws.com"},"eventSourceARN":"`+streamARN+`"}`,
		string(change.AppendRecord(nil, rec)))
}

func TestAppendRecord_countsSizeBytesAsTheServicesExamples(t *testing.T) {
	t.Parallel()
	// The guide's three records of item Id 101, with its key attributes in place of ours.
	const ours = len("PKUSER#uSKNOTE#n")
	key := item.Key{PK: "USER#u", SK: "NOTE#n"}
	image := func(message string) item.Item {
		it := key.Item()
		it["Id"], it["Message"] = item.Number("101"), item.String(message)
		return it
	}
	for want, rec := range map[int]change.Record{
		26 - 5 + 2*ours:    {Name: change.Insert, New: image("New item!")},
		59 - 5 + 3*ours:    {Name: change.Modify, Old: image("New item!"), New: image("This item has changed")},
		38 - 5 + 2*ours:    {Name: change.Remove, Old: image("This item has changed")},
		ours*2 + 1 + 1 + 2: {Name: change.Insert, New: with(key.Item(), "a", item.Number("-70"))},
		ours*2 + 1 + (3 + 1) + 1 + (3 + 2) + 1 + 1: {Name: change.Insert, New: with(key.Item(), "a",
			item.Map{"b": item.List{item.Bool(true), item.Null{}}})},
	} {
		rec.Key = key
		var stock events.DynamoDBEventRecord
		require.NoError(t, json.Unmarshal(change.AppendRecord(nil, rec), &stock))
		require.EqualValues(t, want, stock.Change.SizeBytes, "%v", rec)
	}
}

func with(it item.Item, name string, v item.Value) item.Item {
	it = it.Clone()
	it[name] = v
	return it
}

// everyType has each type of value, empty and nested ones, and text that needs escapes.
func everyType() item.Item {
	it := task("task_1", 3)
	for name, v := range map[string]item.Value{
		"s": item.String("ä \" \\ \n \u2028 <&> 🪴"), "empty": item.String(""), "n": item.Number("-12.50E+3"),
		"yes": item.Bool(true), "no": item.Bool(false), "null": item.Null{},
		"ss": item.Strings("b", "a\\"), "ns": item.Ints(3, -1), "noss": item.StringSet{},
		"b": item.Binary{0, 1, 255}, "nob": item.Binary{}, "bs": item.BinarySet{{1}, {2, 3}},
		"l": item.List{item.String("x"), item.List{}, item.Map{"k\"": item.List{item.Number("1")}}},
		"m": item.Map{"": item.String("no name"), "m": item.Map{}},
	} {
		it[name] = v
	}
	return it
}

func TestParse_isTheInverseOfAppendRecord(t *testing.T) {
	t.Parallel()
	full := modified("task_1", 3)
	full.Old, full.New = with(everyType(), "s", item.String("before")), everyType()
	bare := change.Record{Name: "SOMETHING", Key: item.Key{PK: "a", SK: "b"}}
	expired := change.Record{Name: change.Remove, Old: item.Item{}, Expired: true, Key: item.Key{PK: "a"}}
	for _, rec := range append(batch(3), full, bare, expired) {
		got, err := change.Parse(change.AppendRecord(nil, rec))
		require.NoError(t, err)
		require.Equal(t, rec, got)
	}
}

func TestDecode_readsWhatTheStockEventTypeReads(t *testing.T) {
	t.Parallel()
	rec := modified("task_1", 3)
	rec.New = everyType()
	var stock events.DynamoDBEvent
	require.NoError(t, json.Unmarshal(change.AppendEvent(nil, []change.Record{rec, rec}), &stock))
	require.Len(t, stock.Records, 2)
	got := stock.Records[1]
	require.Equal(t, rec.Sequence, got.Change.SequenceNumber)
	require.Equal(t, rec.Created, got.Change.ApproximateCreationDateTime.UTC())
	require.Equal(t, "eu-central-1", got.AWSRegion)
	require.Len(t, got.Change.NewImage, len(rec.New))
	require.Equal(t, rec.New.Str("s"), got.Change.NewImage["s"].String())
	require.Equal(t, []string{"-1", "3"}, got.Change.NewImage["ns"].NumberSet())
	require.Equal(t, []byte{0, 1, 255}, got.Change.NewImage["b"].Binary())
}

func TestDecode_readsOtherSpellingsTheSame(t *testing.T) {
	t.Parallel()
	rec := modified("task_1", 3)
	rec.New, rec.Old = everyType(), everyType()
	compact := string(change.AppendRecord(nil, rec))
	var spread any
	require.NoError(t, json.Unmarshal([]byte(compact), &spread))
	indented, err := json.MarshalIndent(spread, "", "\t") // other order of members, too, and other escapes
	require.NoError(t, err)
	for name, raw := range map[string]string{
		"indented":        string(indented),
		"space in values": strings.ReplaceAll(compact, `"},`, `" } ,`),
		"exponent":        strings.Replace(compact, "1767225600", "1.7672256E9", 1),
		"fraction":        strings.Replace(compact, "1767225600", "1767225600.9", 1),
		"no identity":     strings.Replace(compact, `"eventID"`, `"userIdentity":null,"eventID"`, 1),
		"other identity": strings.Replace(compact, `"eventID"`,
			`"userIdentity":{"type":"Service","principalId":"x"},"eventID"`, 1),
		"newer members": strings.Replace(compact, `"eventID"`, `"tableName":{"a":[1]},"eventID"`, 1),
		"escaped names": strings.ReplaceAll(compact, `"S":`, `"\u0053":`),
	} {
		got, err := change.Parse([]byte(raw))
		require.NoError(t, err, name)
		require.Equal(t, rec, got, name)
	}
}

func TestDecode_givesImagesNoSharedMemoryToWrite(t *testing.T) {
	t.Parallel()
	rec := modified("task_1", 3)
	rec.Old, rec.New = everyType(), everyType()
	payload := change.AppendRecord(nil, rec)
	got, err := change.Parse(payload)
	require.NoError(t, err)
	clear(payload)
	got.New.Map("m")["m"] = item.String("changed")
	got.New["ss"].(item.StringSet)[0] = "changed"
	require.Equal(t, rec.Old, got.Old)
}

func TestCompareSequence_comparesByLengthThenText(t *testing.T) {
	t.Parallel()
	ascending := []string{"", "1", "2", "9", "10", "11", "99", "100000000000000000000", "1405400000000002063282832",
		"1405400000000002063282833", "9999999999999999999999999999999999999999"}
	shuffled := []string{}
	for i := range ascending {
		shuffled = append(shuffled, ascending[(i*7)%len(ascending)])
	}
	slices.SortFunc(shuffled, change.CompareSequence)
	require.Equal(t, ascending, shuffled)
	require.Zero(t, change.CompareSequence("12", "12"))
}
