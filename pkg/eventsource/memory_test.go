package eventsource_test

import (
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestMapping_followsTheMemoryStoresFeedThroughSplits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(time.Now, memory.Options{Shards: 2})
		feed := store.Feed()
		s := setup(t, eventsource.Config{Name: "m", BatchSize: 7})
		s.wiring.Source, s.wiring.Changed, s.wiring.Poll = feed, feed.Changed, time.Hour
		s.run(t)
		ref := func(i int) entity.Ref { return entity.Ref{Type: product.TypeTask, ID: "task_" + strconv.Itoa(i)} }
		for version := range int64(6) {
			for i := range 20 {
				it := entity.ItemKey("u1", ref(i)).Item()
				it[entity.AttrVersion] = item.Int(version + 1)
				require.NoError(t, store.Put(t.Context(), table.Put{Item: it}))
			}
			if version%2 == 1 {
				shards, err := feed.Shards(t.Context())
				require.NoError(t, err)
				_, err = feed.Split(shards[len(shards)-1].ID)
				require.NoError(t, err)
			}
		}
		head := map[string]string{}
		shards, err := feed.Shards(t.Context())
		require.NoError(t, err)
		for _, shard := range shards {
			head[shard.ID], err = feed.Head(shard.ID)
			require.NoError(t, err)
		}
		began := time.Now()
		require.NoError(t, s.mapping.CaughtUp(t.Context(), head))
		require.Zero(t, time.Since(began), "the feed's signal is enough")

		versions := map[item.Key][]int64{}
		for _, d := range s.deliveries() {
			for _, r := range d.Records {
				versions[r.Key] = append(versions[r.Key], r.New.Int(entity.AttrVersion))
			}
		}
		require.Len(t, versions, 20)
		for key, got := range versions {
			require.Equal(t, []int64{1, 2, 3, 4, 5, 6}, got, "%s in order, each once", key)
		}
		done := slices.DeleteFunc(s.mapping.Status(), func(at eventsource.ShardStatus) bool { return !at.Done })
		require.Len(t, done, 3)
		require.Positive(t, change.CompareSequence(feed.Last(), ""))
	})
}
