//go:build predecessor

package before

import (
	"context"

	"nexus/pkg/change"
	oldchange "nexus/predecessor/change"
	oldentity "nexus/predecessor/entity"
)

var registry = oldentity.Product()

// Consumer is a consumer of the release before for this release's changes.
type Consumer struct{ Of oldchange.Consumer }

var _ change.Consumer = Consumer{}

// Name implements [change.Consumer].
func (c Consumer) Name() string { return c.Of.Name() }

// Apply implements [change.Consumer].
func (c Consumer) Apply(ctx context.Context, batch []change.Change) []change.Outcome {
	told := make([]oldchange.Change, len(batch))
	for i, ch := range batch {
		told[i] = oldchange.Change{
			Kind: oldchange.Kind(ch.Kind), User: ch.User, Ref: oldentity.Ref(ch.Ref), Key: oldentity.Key(ch.Key),
			Old: ToItem(ch.Old), New: ToItem(ch.New), Version: ch.Version, Created: ch.Created, Sequence: ch.Sequence,
			Raw: ch.Raw,
		}
		if ch.Type != nil {
			told[i].Type = registry.Named(ch.Type.Name)
		}
	}
	outcomes := make([]change.Outcome, len(batch))
	for i, o := range c.Of.Apply(ctx, told) {
		outcomes[i] = change.Outcome{Verdict: change.Verdict(o.Verdict), Err: FromError(o.Err), Already: o.Already}
	}
	return outcomes
}
