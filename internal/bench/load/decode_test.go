package load_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

const attrDescription = "description"

// BenchmarkDecode is P3 of the performance goals: batches of 100 records of two images of 1.9 KB, read by pkg/change
// and by the event type of the Lambda package, which names no bad record and checks nothing.
func BenchmarkDecode(b *testing.B) {
	const size = 100
	registry := product.Registry()
	for _, kind := range recordKinds {
		payload := change.AppendEvent(nil, recordsOf(b, kind.images, size))
		run := func(name string, read func([]byte) (int, error)) {
			b.Run(kind.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				used := cpu(b)
				for b.Loop() {
					if n, err := read(payload); n != size || err != nil {
						b.Fatal(n, err)
					}
				}
				b.ReportMetric(float64(size*b.N)/(cpu(b)-used).Seconds(), "records/cpu-s")
			})
		}
		run("changes", func(payload []byte) (int, error) {
			decoded, err := change.Decode(payload, registry)
			return len(decoded), err
		})
		run("stock", readStock)
	}
}

func readStock(payload []byte) (int, error) {
	var event events.DynamoDBEvent
	err := json.Unmarshal(payload, &event)
	return len(event.Records), err
}

func TestLoad_namesABadRecordThatFailsTheStockEventType(t *testing.T) {
	t.Parallel()
	const size = 10
	payload := change.AppendEvent(nil, recordsOf(t, recordKinds[0].images, size))
	bad := bytes.Replace(payload, []byte(`{"S":"Room 4"}`), []byte(`{"S":["Room 4"]}`), 1)
	decoded, err := change.Decode(bad, product.Registry())
	require.NoError(t, err)
	require.Len(t, decoded, size)
	for i, d := range decoded {
		require.NotEmpty(t, d.Sequence)
		require.Equal(t, i == 0, d.Err != nil, "%d: %v", i, d.Err)
	}
	_, err = readStock(bad)
	require.Error(t, err)
}

// recordKinds are sorts of records of changes, both images about 1.9 KB.
var recordKinds = []struct {
	name   string
	images func(testing.TB, int) (before, after item.Item)
}{
	{"changed-events", eventImages}, {"changed-series", seriesImages}, {"changed-occurrences", occurrenceImages},
	{"new-events", func(tb testing.TB, i int) (before, after item.Item) {
		after, _ = eventImages(tb, i)
		return nil, after
	}},
}

func recordsOf(tb testing.TB, images func(testing.TB, int) (before, after item.Item), n int) []change.Record {
	tb.Helper()
	out := make([]change.Record, n)
	for i := range out {
		before, after := images(tb, i)
		name := change.Modify
		if before == nil {
			name = change.Insert
		}
		out[i] = change.Record{
			EventID: fmt.Sprintf("%032x", i), Name: name, Sequence: fmt.Sprintf("1405400000%015d", i), Created: base,
			Key: after.Key(), Old: before, New: after,
			SourceARN: "arn:aws:dynamodb:eu-central-1:000000000000:table/ProductivityData/stream/2026-01-01T00:00:00.000",
		}
	}
	return out
}

// wordy is text that no two items share.
func wordy(i, bytes int) item.String {
	sentence := fmt.Sprintf("What was decided in part %d, and what comes next. ", i)
	return item.String(strings.Repeat(sentence, bytes/len(sentence)+1)[:bytes])
}

func imageID(i int) string { return fmt.Sprintf("6f1d2c3b-0000-4000-8000-%012d", i) }

func eventImages(tb testing.TB, i int) (before, after item.Item) {
	t, owner := product.Event(), fmt.Sprintf("user_%d", i/5)
	before = itemBody(5, base.Add(time.Duration(i)*time.Hour)).created(tb, owner, imageID(i), base)
	before[attrDescription] = wordy(i, 1000)
	entity.SetLinks(before,
		[]entity.Link{{Target: entity.Ref{Type: product.TypeNote, ID: fmt.Sprintf("note_%d", i)}, Relation: "minutes"}})
	after = before.Clone()
	after.SetTime(product.AttrStartUtc, base.Add(time.Duration(i+2)*time.Hour))
	after.SetTime(product.AttrEndUtc, base.Add(time.Duration(i+3)*time.Hour))
	return before, t.NextVersion(entity.ByUser, owner, before, after, base.Add(time.Minute), nil)
}

func seriesImages(tb testing.TB, i int) (before, after item.Item) {
	t, owner := product.Master(), fmt.Sprintf("user_%d", i/5)
	d, dated := recurring(base, i)
	before = d.created(tb, owner, imageID(i), d.At)
	before[attrDescription] = wordy(i, 500)
	var gone item.List
	for k := range 20 {
		gone = append(gone, item.String(dated.AddDate(0, 0, 7*k).Format(time.DateOnly)))
	}
	before["exdate"] = gone
	after = before.Clone()
	after["exdate"] = append(gone[:len(gone):len(gone)], item.String(dated.AddDate(0, 0, 147).Format(time.DateOnly)))
	return before, t.NextVersion(entity.ByUser, owner, before, after, base.Add(time.Minute), nil)
}

func occurrenceImages(tb testing.TB, i int) (before, after item.Item) {
	master, _ := seriesImages(tb, i)
	_, dated := recurring(base, i)
	owner := fmt.Sprintf("user_%d", i/5)
	before = exceptionRow(owner, master, exceptions(i, dated)[1])
	before[attrDescription] = wordy(i, 1150)
	after = before.Clone()
	after[entity.AttrTitle] = item.String(fmt.Sprintf("Series %d, and another way", i))
	return before, product.Instance().NextVersion(entity.ByUser, owner, before, after, base.Add(time.Minute), nil)
}
