package change_test

import (
	"encoding/json"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"nexus/pkg/change"
	"nexus/pkg/product"
)

// BenchmarkDecode reads batches of 100 records of two images of 1.9 KB each. Compare records/s of both: the goal is six
// times the stock event type, which names no bad record and checks nothing.
func BenchmarkDecode(b *testing.B) {
	const size = 100
	payload := change.AppendEvent(nil, batch(size))
	types := product.Registry()
	perSecond := func(b *testing.B) {
		b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "records/s")
	}
	b.Run("changes", func(b *testing.B) {
		b.SetBytes(int64(len(payload)))
		b.ReportAllocs()
		for b.Loop() {
			decoded, err := change.Decode(payload, types)
			if err != nil || len(decoded) != size || decoded[0].Err != nil {
				b.Fatal(err, len(decoded))
			}
		}
		perSecond(b)
	})
	b.Run("stock", func(b *testing.B) {
		b.SetBytes(int64(len(payload)))
		b.ReportAllocs()
		for b.Loop() {
			var event events.DynamoDBEvent
			if err := json.Unmarshal(payload, &event); err != nil {
				b.Fatal(err)
			}
		}
		perSecond(b)
	})
}

func BenchmarkAppendEvent(b *testing.B) {
	records := batch(100)
	payload := change.AppendEvent(nil, records)
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		payload = change.AppendEvent(payload[:0], records)
	}
}
