package simulate

import (
	"math/rand/v2"

	"nexus/pkg/change"
)

// replicaSalt is chosen so that the histories that are kept for ever have no replica: they are older.
const replicaSalt = 0x7265706c696361

// hasReplica reports whether the table has a replica in another region in the history of a seed, one in four. The
// release before knows of none.
func hasReplica(seed uint64) bool {
	return newFormer == nil && rand.NewPCG(seed, replicaSalt).Uint64()%4 == 0
}

// arrives returns a record as the stream has it. Of the removals by TTL in a table with a replica, the replica makes
// about half: they arrive as removals by replication. By whom, the last digit of the sequence number decides, so that
// each delivery of a record says the same.
func (s *stream) arrives(one change.Record) change.Record {
	if s.replicated && one.Expired && one.Sequence[len(one.Sequence)-1]%2 == 0 {
		one.Expired = false
	}
	return one
}
