// Package stream is a function that reads the table's stream: one line of the deployment table, run by the batch loop.
//
// It promises that a function runs exactly the consumers that the deployment table gives its reader. A difference
// prevents the function from starting, so the table, the infrastructure's filters and the code always agree.
package stream

import (
	"fmt"
	"slices"
	"time"

	"nexus/functions/internal/boot"
	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/table"
)

// Config configures such a function. The fields of its own are required.
type Config struct {
	// Config is that of the batch loop. The consumers are those of the reader, in the deployment table's order. Observe
	// is set by the function.
	consume.Config
	Function env.Function
	// Meter returns the counter of a consumer's use of the table; nil is a mistake.
	Meter   func(consumer string) *table.Meter
	Metrics *metric.Writer
}

// New returns the function's handler, or an error if the consumers are not the reader's or something is missing.
func New(c Config) (boot.Handler, error) {
	if err := c.checkDeployment(); err != nil {
		return nil, err
	}
	for _, consumer := range c.Consumers {
		if c.Meter(consumer.Name()) == nil {
			return nil, fmt.Errorf("function %s: what consumer %s uses of the table is not counted", c.Function, consumer.Name())
		}
	}
	c.Observe = c.observe
	loop, err := consume.New(c.Config)
	if err != nil {
		return nil, err
	}
	return loop.Handle, nil
}

func (c Config) checkDeployment() error {
	var names []string
	for _, consumer := range c.Consumers {
		names = append(names, consumer.Name())
	}
	for _, reader := range readers.Table(c.Registry) {
		if reader.Name != string(c.Function) {
			continue
		}
		if !slices.Equal(names, reader.Consumers) {
			return fmt.Errorf("function %s runs the consumers %v, the deployment table says %v", c.Function, names,
				reader.Consumers)
		}
		return nil
	}
	return fmt.Errorf("function %s has no reader in the deployment table", c.Function)
}

// observe counts the outcomes of the records, their age, and the use of the table.
func (c Config) observe(consumer string, n consume.Counts) {
	values := metric.Values{
		metric.RecordsDone: float64(n.Done), metric.RecordsAlreadyDone: float64(n.Already),
		metric.RecordsParked:     float64(n.Parked + n.Newer),
		metric.RecordsUnfinished: float64(n.Unfinished), metric.RecordsRetried: float64(n.Retried),
	}
	if !n.Oldest.IsZero() {
		age := c.Now().Sub(n.Oldest).Round(time.Millisecond)
		values[metric.RecordAge] = max(0, age.Seconds())
	}
	c.Metrics.Add(metric.ByConsumer, consumer, values, c.Meter(consumer).Drain())
}
