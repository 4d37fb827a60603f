package product_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// turnOf returns where the row of a user stands who keeps the history for so many days.
func turnOf(user string, days int64) (partition, sort string) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	before := product.NewUserMeta(user, now)
	after := before.Clone()
	preferences := before.Map(product.AttrPreferences).Clone()
	preferences[product.PreferenceHistoryDays] = item.Int(days)
	after[product.AttrPreferences] = item.Map(preferences)
	row := product.UserMeta().NextVersion(entity.ByUser, user, before, after, now, nil)
	return row.Str(item.AttrGSI3PK), row.Str(item.AttrGSI3SK)
}

func TestHistoryTurnsIn_bringsEachUserOnceAMonth(t *testing.T) {
	t.Parallel()
	places := map[string][2]string{}
	for n := range 100 {
		user := fmt.Sprint("user-", n)
		partition, sort := turnOf(user, 30)
		places[user] = [2]string{partition, sort}
		require.Equal(t, user, sort[len("15:04#"):])
	}
	for name, every := range map[string]time.Duration{
		"as the calls come": 5 * time.Minute, "a clock that jumps": 50 * time.Hour,
	} {
		for _, month := range []time.Month{time.February, time.March, time.April} {
			first := time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC)
			end := first.AddDate(0, 1, 0)
			served := map[string]int{}
			for at := first; at.Before(end); at = at.Add(every) {
				next := at.Add(every)
				if end.Before(next) {
					next = end
				}
				for _, turns := range product.HistoryTurnsIn(at, next) {
					for user, at := range places {
						if turns.Partition == at[0] && turns.From <= at[1] && at[1] <= turns.To {
							served[user]++
						}
					}
				}
			}
			require.Len(t, served, len(places), "%s in %s", name, month)
			for user, times := range served {
				require.Equal(t, 1, times, "%s: %s in %s", user, name, month)
			}
		}
	}
	partition, _ := turnOf("ann", 0)
	require.Empty(t, partition, "the history is kept for ever")
}

func TestHistoryTurnsIn_countsInUTC(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 2, 12, 3, 0, 0, time.FixedZone("east", 3600))
	require.Equal(t, []product.HistoryTurns{{Partition: "HISTORY#02", From: "11:05", To: "12:00~"}},
		product.HistoryTurnsIn(from, from.Add(time.Hour)))
	require.Empty(t, product.HistoryTurnsIn(from, from.Add(2*time.Minute)), "none begins")
	require.Len(t, product.HistoryTurnsIn(from, from.AddDate(0, 0, 29)), 27)
}
