// Package readers is the deployment table: the stream readers, and the consumers that each of them feeds. The local
// platform runs it, the functions are built by it, and the infrastructure deploys it.
//
// It promises that all three read the same lines. It must never import a function or a consumer: it refers to
// consumers by name.
package readers

import (
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/eventsource"
	"nexus/pkg/product"
)

// giveUpAge is the age at which a record that still fails goes to the on-failure destination: an hour before the
// stream, which retains 24, would lose it. Nothing else ends the attempts. Lambda does not promise a pause between two
// of them, so a function that does not start would use up any number within minutes.
const giveUpAge = 23 * time.Hour

// Reader is one line of the deployment table: an event source mapping and its consumers.
type Reader struct {
	eventsource.Config
	// Consumers are the names of the consumers. They share the reader, and each gets every record independently.
	Consumers []string
	// Parallel is the number of batches of one shard that Lambda processes at a time (its ParallelizationFactor); records
	// of one item stay in their order. The local platform processes one.
	Parallel int
}

// The number of batches of a shard that a reader processes at a time. Projections finish a batch in a few calls, and
// two batches with records of one user would compete for that user's statistics. Effects wait for other services most
// of the time.
const (
	projectionsParallel = 1
	effectsParallel     = 4
)

// effectsWindow is how long Lambda gathers records for effects: an invocation for each record would cost more than its
// work. No user waits for effects: a schedule is set at least a minute ahead, and archive works in hours. Users wait
// for projections, so their reader gathers nothing.
const effectsWindow = 10 * time.Second

// Table returns the lines. DynamoDB Streams serves two readers of a shard; it throttles more, and no metric shows
// that. To regroup, move a name here and its constructor in the function's main. Further projections, of another
// product, join the reader of the projections. The log of changes names settings and heads, too, for which no
// projection makes a call.
func Table(registry *entity.Registry, projections ...string) []Reader {
	var items []string
	for _, t := range registry.Types() {
		if t.HasCollection() {
			items = append(items, entity.ItemPrefix(t.Name))
		}
	}
	changed := eventsource.Pattern{SKPrefixes: items}
	settings := eventsource.Pattern{
		SKPrefixes: []string{entity.ItemPrefix(entity.TypeUserMeta)},
		// A consumer sets the flag with every item that it counts.
		Without: eventsource.Attribute{Name: product.AttrStatsWritten, Type: "BOOL"},
	}
	heads := eventsource.Pattern{SKPrefixes: []string{repository.HeadPrefix()}}
	// Only TTL removes a timer. It may have done so in another region, so no pattern asks for the service's identity.
	timers := eventsource.Pattern{
		SKPrefixes: []string{entity.ItemPrefix(entity.RowTimer)}, Events: []change.EventName{change.Remove},
	}
	return []Reader{
		{
			Config: eventsource.Config{
				Name: "projections", Filter: eventsource.Filter{changed, settings, heads},
				MaxAge: giveUpAge, Bisect: true,
			},
			Consumers: append([]string{"stats", "links", "changes", "insights"}, projections...),
			Parallel:  projectionsParallel,
		},
		{
			Config: eventsource.Config{
				Name: "effects", Filter: eventsource.Filter{changed, settings, timers}, Window: effectsWindow,
				MaxAge: giveUpAge, Bisect: true,
			},
			Consumers: []string{"reminders", "archive", "webhooks"},
			Parallel:  effectsParallel,
		},
	}
}
