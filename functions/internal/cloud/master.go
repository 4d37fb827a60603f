package cloud

import (
	"context"
	"fmt"

	"nexus/pkg/webhook"
)

// MasterOf returns the secret that a parameter has, from which those of webhooks follow.
func MasterOf(ctx context.Context, of *Parameter) (webhook.Master, error) {
	text, err := of.Value(ctx)
	if err != nil {
		return webhook.Master{}, err
	}
	master, err := webhook.ParseMaster(text)
	if err != nil {
		return webhook.Master{}, fmt.Errorf("parameter %s: %w", of.Name, err)
	}
	return master, nil
}
