package simulate_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/internal/simulate"
	"nexus/pkg/register"
)

// A simulation in which nothing happens finds nothing.
func TestPlay_findsNoViolationAndReachesEverythingThatMayHappen(t *testing.T) {
	t.Parallel()
	histories := few
	if !long.Tests() {
		histories /= 8
	}
	tally := simulate.Play(t.Context(), simulate.Plan{
		From: 1_000, Histories: histories, Steps: simulate.DefaultSteps, Workers: runtime.GOMAXPROCS(0), Stop: 1,
	})
	for _, r := range tally.Failed {
		t.Errorf("%s\n%s", r.Violation, r.Spec.Command())
	}
	require.Equal(t, histories, tally.Histories)
	if !long.Tests() {
		return // fewer do not reach everything
	}
	for _, what := range []string{
		"command create", "command update", "command delete", "command link", "command unlink", "command settings",
		"command restore", "command import",
		"command except", "command cancel", "command change", "command end", "command split",
		"command snooze", "command complete", "command dismiss",
		"reminder of EVENT", "reminder of TASK", "reminder of REMINDER", "reminder of MASTER", "reminder of INSTANCE",
		"reminder late", "reminder on time", "reminder snoozed", "reminder recurring", "reminder published again",
		"task archived", "item expired", "item restored", "completion that outlives its task",
		"completion dated by its client", "parked record taken up", "record given up taken up", "replay",
		"repair", "damage mended", "contended", "outage", "reminder by a clock ahead", "held", "crash", "unknown outcome",
		"panic", "refusal for good", "deadline", "answer lost", "storm", "throttled in a storm",
		"record that never comes back", "two repairs", "repair beside its item", "trip", "ruin", "several want back",
		"question for what has left", "verification beside others", "cold copy spoilt", "cold copy mended",
		"settings of an earlier release", "timer that is no task's", "row of a later release", "row staged by a repair",
		"staged row counted", "restless item", "crowd", "contribution that no row holds", "request sent twice at once",
		"event TaskArchived", "event ItemExpired", "event ItemRestored", "archive event again", "derived rows distorted",
		"damage mended beside others", "repair of everybody", "event that is none", "record that a filter should keep",
		"unreadable record", "unreadable call", "clock behind", "clock jumps",
		"store fails", "store is done and says it failed", "store crash before", "store crash after",
		"scheduler fails", "scheduler is done and says it failed", "scheduler crash before", "scheduler crash after",
		"walk overtaken", "walk twice at once", "walk done before comes again", "walk in dead letters",
		"queue fails", "queue is done and says it failed", "queue crash before", "queue crash after",
		"bus fails", "bus is done and says it failed", "bus crash before", "bus crash after",
		"blob fails", "blob is done and says it failed",
		"edit on a device", "edit of MASTER on a device", "edit of INSTANCE on a device",
		"edit of USER_META on a device", "answer to a batch behind the feed",
		"edit refused", "edit answered 410", "edit answered 412", "edit answered 424",
		"edit answered 503", "device merges", "device edit behind a write of the system", "batch sent again after days",
		"edit too old to be sent again", "snapshot", "snapshot in pages", "item omitted", "device dies",
		"device dies between pages", "answer to a device lost", "another user signs in", "token of another user",
		"token kept for weeks", "weeks pass", "device reset expired", "device reset unknown", "device reset form",
		"row of a log appended", "row of a log swept", "row of a log swept before an older one",
		"row of a log that is first again", "two writers of a log", "late record announced", "log of a restored table",
		"form raised", "head committed",
		"node forgotten", "revision pruned", "rows of a pruned revision removed", "read of what was pruned",
		"plan that the next day names", "row read of a moment ago", "page read of a moment ago",
		"account leaves", "account taken back", "erasure begun", "account erased", "request of an account that leaves",
		"batch of an account that leaves", "record of an erased user again", "call for an erased user", "shell goes on",
		"refused by the rate user", "refused by the rate feed", "refused by the rate zone", "burst of user", "burst of feed",
		"refused by the quota content", "refused by the quota notes", "refused by the quota series",
		"refused by the quota plans", "refused by the quota tree-revisions", "refused by the quota plan-revisions",
		"refused by the quota exceptions", "refused by the quota gone", "refused by the quota schedules",
		"count that equals a recount",
		"shell stands still", "export at the leave", "read by an erased user", "table restored",
		"stranger with the id of an erased user", "state of an account of a moment ago",
		"eraser crash before", "eraser crash after", "record without a key parked", "strand",
		"removal by a replica",
		"webhook disabled: gone", "webhook tried", "worker of webhooks stands still", "message done ",
		"message dead disabled", "message dead deleted",
		"message reminder.due", "messages asked for again", "call of webhooks lost", "webhook answered 429",
		"webhook connected: public", "webhook connected: rebinding", "webhook connected: both",
		"webhook not connected: inside", "webhook not connected: rebinding", "webhook answered 410",
		"reminder comes to webhooks again", "receiver is done and says it failed",
		"invocation crash after",
	} {
		require.Positive(t, tally.Happened[what], what)
	}
	for _, line := range register.Lines() {
		if line.Suite == register.Simulation {
			require.Positive(t, tally.Happened[line.String()], "nothing of %s", line)
		}
	}
}
