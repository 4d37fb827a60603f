package stack

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/eventsource"
	"nexus/pkg/product"
)

// endless is Lambda's value for retries that only the age of the records ends.
const endless = -1

// readers returns the deployment table: which consumers share a reader of the stream.
func (d *deployment) readers() []readers.Reader {
	table := readers.Table(product.Registry())
	for i := range table {
		switch env.Function(table[i].Name) {
		case env.Effects:
			table[i].Parallel = d.settings.EffectsParallel
		case env.Projections:
			table[i].Parallel = d.settings.ProjectionsParallel
		}
	}
	return table
}

// reads reports whether the function has a line in the deployment table.
func (d *deployment) reads(f env.Function) bool {
	return slices.ContainsFunc(d.readers(), func(r readers.Reader) bool { return r.Name == string(f) })
}

// addReaders makes an event source mapping of each line of the deployment table.
func (d *deployment) addReaders() {
	for _, r := range d.readers() {
		f := env.Function(r.Name)
		alias, ok := d.live[f]
		if !ok {
			panic("stack: the deployment table has a reader " + r.Name + ", which is no function")
		}
		d.mappings[r.Name] = awslambda.NewEventSourceMapping(d.Stack, jsii.String(construct(f)+"Reader"),
			&awslambda.EventSourceMappingProps{
				Target:         alias,
				EventSourceArn: d.table.TableStreamArn(),
				// Starting at the latest record can miss some; this replays a day, which changes nothing.
				StartingPosition:        awslambda.StartingPosition_TRIM_HORIZON,
				Filters:                 filters(r.Filter),
				BatchSize:               jsii.Number(batchSize(r.Config)),
				MaxBatchingWindow:       awscdk.Duration_Seconds(jsii.Number(r.Window.Seconds())),
				ParallelizationFactor:   jsii.Number(r.Parallel),
				ReportBatchItemFailures: jsii.Bool(true),
				BisectBatchOnError:      jsii.Bool(r.Bisect),
				RetryAttempts:           jsii.Number(retries(r.Config)),
				MaxRecordAge:            awscdk.Duration_Seconds(jsii.Number(r.MaxAge.Seconds())),
				OnFailure:               awslambdaeventsources.NewS3OnFailureDestination(d.parking),
				// S3 receives the records themselves; queues and topics would only receive a notice about them.
				SupportS3OnFailureDestination: jsii.Bool(true),
				MetricsConfig: &awslambda.MetricsConfig{
					Metrics: &[]awslambda.MetricType{awslambda.MetricType_EVENT_COUNT},
				},
			})
	}
}

func batchSize(c eventsource.Config) int {
	if c.BatchSize == 0 {
		return eventsource.DefaultBatchSize
	}
	return c.BatchSize
}

func retries(c eventsource.Config) int {
	if c.RetryAttempts == 0 {
		return endless
	}
	return c.RetryAttempts
}

func filters(f eventsource.Filter) *[]*map[string]any {
	var out []*map[string]any
	for _, pattern := range f.JSON() {
		out = append(out, &map[string]any{"pattern": pattern})
	}
	return &out
}
