// EventBridge Scheduler calls the notify function when a reminder is due; the payload is the schedule's input. After
// an error Lambda repeats the call and finally sends it to the function's on-failure destination.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"
	_ "time/tzdata" // zones come from the binary, not from the machine

	"nexus/functions/internal/boot"
	"nexus/functions/internal/cloud"
	"nexus/functions/internal/fence"
	"nexus/functions/internal/reminding"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
)

func main() { boot.Run(env.Notify, build) }

func build(s env.Settings, log *slog.Logger) (boot.Handler, error) {
	metrics := metric.NewWriter(os.Stdout, time.Now)
	tables := cloud.NewTables(s, metrics)
	config, err := reminding.Config(reminders.Config{
		Store: tables.StoreFor(string(s.Function)), Registry: product.Registry(), Now: time.Now, Log: log,
		IsGone: fence.New(tables, s).IsGone,
	}, s, metrics)
	if err != nil {
		return nil, err
	}
	notifier := reminders.NewNotifier(config)
	handle := func(ctx context.Context, payload []byte) ([]byte, error) {
		if err := notifier.Handle(ctx, payload); err != nil {
			return nil, fmt.Errorf("call of the scheduler: %w", err)
		}
		return []byte("{}"), nil
	}
	return boot.Metered(handle, s.Function, tables.Meter(string(s.Function)), metrics), nil
}
