package product

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Each user who does not keep the history of repositories for ever has a turn of five minutes in each month: on one of
// its first 28 days, and spread over them. In the state view USER_META stands at that turn.
const (
	historyDays = 28
	historyTurn = 5 * time.Minute
	turnsADay   = int(24 * time.Hour / historyTurn)
	turnForm    = "15:04"
)

// HistoryPKPrefix begins the partitions of the state view that have the users whose history is pruned, by the day of
// the month.
const HistoryPKPrefix = "HISTORY#"

// HistoryTurns are turns one after another, on one day in UTC: a partition of the state view, and the sort keys from
// the first to the last.
type HistoryTurns struct{ Partition, From, To string }

// HistoryTurnsIn returns the turns that begin in a span of time. There is none on the last days of most months.
func HistoryTurnsIn(from, to time.Time) (days []HistoryTurns) {
	at := from.UTC().Add(historyTurn - 1).Truncate(historyTurn)
	for at.Before(to) {
		end := at.Truncate(24*time.Hour).AddDate(0, 0, 1)
		last := end.Add(-historyTurn)
		if to.Before(end) {
			last = to.UTC().Add(-1).Truncate(historyTurn)
		}
		if at.Day() <= historyDays {
			// No character of a sort key behind the clock is as great as the last one.
			days = append(days, HistoryTurns{historyPK(at.Day()), at.Format(turnForm), last.Format(turnForm) + "~"})
		}
		at = end
	}
	return days
}

func historyPK(day int) string { return fmt.Sprintf("%s%02d", HistoryPKPrefix, day) }

// indexUserMeta puts the row of a user at the turn, as long as the history is not kept for ever.
func indexUserMeta(user string, it item.Item) entity.IndexKeys {
	if it.Map(AttrPreferences).Int(PreferenceHistoryDays) <= 0 {
		return entity.IndexKeys{}
	}
	sum := sha256.Sum256([]byte(user))
	n := int(binary.BigEndian.Uint32(sum[:4]) % uint32(historyDays*turnsADay))
	clock := time.Time{}.Add(time.Duration(n%turnsADay) * historyTurn).Format(turnForm)
	return entity.IndexKeys{StatePK: historyPK(1 + n/turnsADay), StateSK: clock + "#" + user}
}
