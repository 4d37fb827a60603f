// The walk function carries out the walks over many items that a change of time zone or of a series sets off. An event
// source mapping gives it the messages of a queue, one in each invocation; after an error the message comes again, and
// finally it is a dead letter.
package main

import (
	"log/slog"
	"os"
	"time"
	_ "time/tzdata" // zones come from the binary, not from the machine

	"nexus/functions/internal/boot"
	"nexus/functions/internal/cloud"
	"nexus/functions/internal/fence"
	"nexus/functions/internal/message"
	"nexus/functions/internal/reminding"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
)

func main() { boot.Run(env.Walk, build) }

func build(s env.Settings, log *slog.Logger) (boot.Handler, error) {
	metrics := metric.NewWriter(os.Stdout, time.Now)
	tables := cloud.NewTables(s, metrics)
	config, err := reminding.Putting(reminders.Config{
		Store: tables.StoreFor(string(s.Function)), Registry: product.Registry(), Now: time.Now, Log: log,
		IsGone: fence.New(tables, s).IsGone,
	}, s, metrics)
	if err != nil {
		return nil, err
	}
	handle := message.Handler(reminders.NewWalker(config).Handle)
	return boot.Metered(handle, s.Function, tables.Meter(string(s.Function)), metrics), nil
}
