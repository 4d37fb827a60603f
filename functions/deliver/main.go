// The deliver function brings reminders to users' devices. A rule of the bus calls it with each ReminderDue, and
// EventBridge Scheduler with the attempts that it has put off. After an error Lambda repeats the call and finally sends
// it to the function's on-failure destination.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"os"
	"time"
	_ "time/tzdata" // zones come from the binary, not from the machine

	"github.com/google/uuid"

	"nexus/functions/internal/boot"
	"nexus/functions/internal/cloud"
	"nexus/functions/internal/fence"
	"nexus/functions/internal/scheduling"
	"nexus/pkg/deliver"
	"nexus/pkg/deliver/webpush"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/outbound"
	"nexus/pkg/port"
	"nexus/pkg/webhook"
)

func main() { boot.Run(env.Deliver, build) }

const (
	// lead is the least time between now and the instant of a schedule, as for reminders.
	lead = time.Minute
	// atOnce is how many of a user's devices are told at a time.
	atOnce = 10
)

func build(s env.Settings, log *slog.Logger) (boot.Handler, error) {
	metrics := metric.NewWriter(os.Stdout, time.Now)
	tables := cloud.NewTables(s, metrics)
	schedules, err := scheduling.New(s, s.ScheduleTargetARN)
	if err != nil {
		return nil, err
	}
	client := outbound.New(outbound.Config{Own: s.PushService()})
	secret := cloud.NewParameter(s.AWS, s.PushKeyParameter)
	config := deliver.Config{
		Outbox: deliver.Outbox{
			Store: tables.StoreFor(string(s.Function)), Scheduler: schedules, Now: time.Now, Lead: lead,
		},
		Random: rand.Reader, NameOf: s.Pepper().Pseudonym, Log: log, AtOnce: atOnce, Wait: port.Sleep,
		IsGone: fence.New(tables, s).IsGone,
		Observe: func(o deliver.Outcome) {
			metrics.Count(metric.ByFunction, string(s.Function), map[string]int{metricOf(o): 1})
		},
	}
	hooks := webhook.Config{
		Outbox: webhook.Outbox{Store: config.Store, Scheduler: schedules, Now: time.Now, Lead: lead},
		Client: outbound.New(outbound.Config{
			Own: s.PushService(), Ports: webhook.Ports(), Timeout: webhook.RequestTime,
		}),
		NewID: uuid.NewString, Draw: mathrand.Float64, Log: log, AtOnce: webhook.AtOnce, Wait: port.Sleep,
		IsGone: config.IsGone,
		Observe: func(o webhook.Outcome) {
			metrics.Count(metric.ByFunction, string(s.Function), map[string]int{metricOfHook(o): 1})
		},
	}
	master := cloud.NewParameter(s.AWS, s.HookKeyParameter)
	parts := parts{
		deliverer: func(ctx context.Context) (*deliver.Deliverer, error) {
			key, err := keyOf(ctx, secret, s.PushKey)
			if err != nil {
				return nil, err
			}
			c := config // what is made of the key costs no call
			c.Sender = webpush.New(webpush.Config{Client: client, Key: key, Contact: s.FeedOrigin, Now: time.Now})
			return deliver.New(c), nil
		},
		worker: func(ctx context.Context) (*webhook.Worker, error) {
			key, err := cloud.MasterOf(ctx, master)
			if err != nil {
				return nil, err
			}
			w := hooks
			w.Master = key
			return webhook.NewWorker(w), nil
		},
	}
	handle := func(ctx context.Context, payload []byte) ([]byte, error) {
		if err := parts.dispatch(ctx, payload); err != nil {
			return nil, err
		}
		return []byte("{}"), nil
	}
	return boot.Metered(boot.Answering(handle), s.Function, tables.Meter(string(s.Function)), metrics), nil
}

// keyOf returns the key by which push services know the deployment. Browsers have subscribed for the public key that
// the stage names: with another one every push service would refuse.
func keyOf(ctx context.Context, secret *cloud.Parameter, public string) (webpush.Key, error) {
	text, err := secret.Value(ctx)
	if err != nil {
		return webpush.Key{}, err
	}
	key, err := webpush.ParseKey(text)
	if err != nil {
		return webpush.Key{}, fmt.Errorf("parameter %s: %w", secret.Name, err)
	}
	if key.Public() != public {
		return webpush.Key{}, fmt.Errorf("parameter %s is not the secret of the stage's public key", secret.Name)
	}
	return key, nil
}

// metricOf names the metric of an outcome.
func metricOf(o deliver.Outcome) string {
	switch o {
	case deliver.Told:
		return metric.PushTold
	case deliver.Again:
		return metric.PushAgain
	case deliver.Late:
		return metric.PushLate
	case deliver.Removed:
		return metric.PushRemoved
	case deliver.Refused:
		return metric.PushRefused
	}
	return metric.PushFailed
}

// metricOfHook names the metric of an outcome of a webhook.
func metricOfHook(o webhook.Outcome) string {
	switch o {
	case webhook.Sent:
		return metric.WebhooksSent
	case webhook.Again:
		return metric.WebhooksAgain
	case webhook.Dropped:
		return metric.WebhooksDropped
	case webhook.Disabled:
		return metric.WebhooksDisabled
	}
	return metric.WebhooksFailed
}
