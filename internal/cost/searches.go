package cost

import (
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

const (
	// searchUnits are read where nothing has changed: the settings and the log's newest row. A test of package query pins
	// them.
	searchUnits = 2
	// tailPerSnapshot is how many entries of the log come before another snapshot, a search's tail at most more.
	tailPerSnapshot = 200
	// itemBytes is the size of an item in the table without its indexes, and indexedBytes that in a snapshot.
	itemBytes, indexedBytes = 700, 475
	// snapshotsKept is how many snapshots of a user stay.
	snapshotsKept = 2
	// searchMilliseconds is the time of a search that loads its snapshot.
	searchMilliseconds = 200
)

// searches returns what searches cost. The replayed reads have none. Each is taken to begin in a process that has no
// index, and each user to need one of all items once a month.
func (b biller) searches() []Line {
	l := b.month.Load
	n, users := l.SearchesPerMonth, float64(l.Users)
	items := float64((l.Events+l.Series+l.Occurrences+l.Tasks+l.Reminders+l.Notes)*l.Days) * float64(max(b.when.Month, 1))
	saves := n * min(1, l.SearchTail/(tailPerSnapshot+l.SearchTail))
	return []Line{
		b.line("searches, reads of what has changed", tableReads, Modelled, n*(searchUnits+l.SearchTail/2)),
		b.line("searches, reads of all items", tableReads, Modelled, users*items*itemBytes/4096),
		b.line("snapshots of indexes, listed", objectPuts, Modelled, n),
		b.line("snapshots of indexes, put", objectPuts, Modelled, saves),
		b.line("snapshots of indexes, storage", objectStorage, Modelled, users*items*indexedBytes*snapshotsKept/gigabyte),
		b.line("searches, requests", apiRequests, Modelled, n),
		b.line("searches, time", functionTime, Modelled,
			n*float64(size.For(env.Query).MemoryMB)/1024*searchMilliseconds/1000),
	}
}
