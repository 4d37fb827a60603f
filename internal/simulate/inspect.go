package simulate

import (
	"context"

	"nexus/pkg/port"
	"nexus/pkg/verify"
)

// inspect begins a verification of one user without repair, beside all other work. It writes nothing, and other
// running work may cause its findings.
func (h *history) inspect(user string) *worker {
	w := &worker{kind: repairing, name: "verification of " + user, readOnly: true}
	var err error
	w.finished = func() {
		h.happened["verification beside others"]++
		if err != nil && !port.IsOutage(err) && !isPassing(err) {
			h.violate("I10", user, "verify", "%v", err)
		}
	}
	return h.start(w, func(ctx context.Context) {
		_, err = h.system.Verifier.Run(ctx, verify.Options{User: user}, func(d verify.Difference) error {
			h.note("  verification: %s %s is %s, should be %s", d.Kind, d.Key, d.Is, d.ShouldBe)
			return nil
		})
	}, h.users...)
}
