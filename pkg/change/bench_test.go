package change_test

import (
	"testing"

	"nexus/pkg/change"
)

// BenchmarkAppendEvent writes a batch. Reading one is measured in internal/bench/load, beside the stock event type.
func BenchmarkAppendEvent(b *testing.B) {
	records := batch(100)
	payload := change.AppendEvent(nil, records)
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		payload = change.AppendEvent(payload[:0], records)
	}
}
