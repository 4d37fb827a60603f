package deliver_test

import (
	"strings"
	"testing"

	"nexus/pkg/deliver"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// A worker that comes late, with any outcome, finds the row gone, or another outcome in it.
func TestDeliverer_writesAnOutcomeUnderTheRowAsItWasRead(t *testing.T) {
	t.Parallel()
	key := device.PushKey(user, strings.Repeat("d", 43), deviceIDs[0])
	for _, status := range []int{201, 400, 401, 410, 503} {
		f := setup(t)
		f.register(user, deviceIDs[0], "https://push.example.com/1")
		f.answer = func(deliver.Push) (deliver.Answer, error) {
			f.NoError(f.store.Delete(t.Context(), table.Delete{Key: key}))
			return deliver.Answer{Status: status}, nil
		}
		f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
		f.Nil(f.row(deviceIDs[0]), "%d has made a row", status)

		done := item.Item{}
		f.answer = func(deliver.Push) (deliver.Answer, error) {
			done = f.row(deviceIDs[0]).Clone()
			done["state"], done["attempts"] = item.String("sent"), item.Int(1)
			f.NoError(f.store.Put(t.Context(), table.Put{Item: done}))
			return deliver.Answer{Status: status}, nil
		}
		f.register(user, deviceIDs[0], "https://push.example.com/1")
		f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
		f.Equal(done, f.row(deviceIDs[0]), "%d has replaced another outcome", status)
	}
}
