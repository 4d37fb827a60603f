package local

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// BenchmarkSeen measures what the console's hook takes for a record at one consumer: nothing without it.
func BenchmarkSeen(b *testing.B) {
	s := newSeen(newHub())
	var err error
	s.clock, err = openClock(time.Now, "")
	require.NoError(b, err)
	decoded := make([]change.Decoded, 1000)
	for i := range decoded {
		key := entity.ItemKey("u", entity.Ref{Type: product.TypeTask, ID: fmt.Sprintf("task_%d", i)})
		image := key.Item()
		image[entity.AttrType], image[entity.AttrVersion] = item.String(product.TypeTask), item.Number("1")
		raw := change.AppendRecord(nil, change.Record{
			EventID: "e", Name: change.Insert, Sequence: fmt.Sprint(i), Key: key, New: image, Created: time.Now(),
		})
		decoded[i] = change.Decoded{Sequence: fmt.Sprint(i), Key: key, Raw: raw, Change: change.Change{
			User: "u", Type: product.Registry().ByName(product.TypeTask), Version: 1, Key: key, New: image,
			Ref: entity.Ref{Type: product.TypeTask, ID: fmt.Sprintf("task_%d", i)}, Sequence: fmt.Sprint(i),
		}}
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		d := &decoded[n/6%len(decoded)]
		d.Sequence, d.Change.Version = fmt.Sprint(n/6), int64(1+n/6)
		s.settled(consume.Settled{Consumer: "stats", Record: d, State: consume.StateDone, Attempts: 1, Began: time.Now()})
	}
}
