package cost

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

// Quotas are those of an account in a region.
type Quotas struct {
	Requests    float64 // a second to all HTTP APIs
	Calls       float64 // a second by EventBridge Scheduler
	Schedules   float64 // in EventBridge Scheduler
	TableWrites float64 // units a second of a table on demand; an index has its own
	TableReads  float64
	Concurrency float64 // of all functions
}

// NewQuotas returns those of a new account, from each service's list of quotas in the AWS General Reference. All of
// them are raised on request.
func NewQuotas() Quotas {
	return Quotas{
		Requests: 10_000, Calls: 1_000, Schedules: 10_000_000, TableWrites: 40_000, TableReads: 40_000, Concurrency: 1_000,
	}
}

const (
	// fullHour is the part of a day's reminders that are due in one minute: a fifth of them at the full hour that most
	// people choose, and three quarters of the users in one zone.
	fullHour = 0.2 * 0.75
	// openSchedules is how many schedules a user has at a time.
	openSchedules = 60
	// quotaOf begins the knobs that are quotas.
	quotaOf = "quota of "
)

// StageSettings are the settings of a stage that bound what it can do, as cdk.json has them. What is not set is that
// of a protected stage.
type StageSettings struct {
	RatePerSecond int            `json:"ratePerSecond"`
	MaxReadUnits  int            `json:"maxReadUnits"`
	MaxWriteUnits int            `json:"maxWriteUnits"`
	Reserve       map[string]int `json:"reserve"`
}

// Capacity says what a number of users takes of everything that bounds a deployment.
type Capacity struct {
	Users int     `json:"users"`
	Peak  float64 `json:"peak"` // times the mean
	// Bounds are in the order in which growing numbers of users reach them.
	Bounds []Bound `json:"bounds"`
}

// Bound is something that bounds a deployment.
type Bound struct {
	What  string  `json:"what"`
	Mean  float64 `json:"mean"` // of these users
	Peak  float64 `json:"peak"`
	Limit float64 `json:"limit"`
	// Users is the number of users at which the peak is the limit.
	Users float64 `json:"reachedAt"`
	// Knob is the setting or the quota that raises the limit.
	Knob string `json:"knob"`
	// OfAccount says that it is a quota.
	OfAccount bool `json:"ofAccount"`
}

// What is bounded by a quota of the account.
const (
	BoundRequests    = "requests a second, of the account"
	BoundCalls       = "calls of reminders in one minute"
	BoundSchedules   = "open schedules"
	BoundTableWrites = "write units a second, of a table"
	BoundTableReads  = "read units a second, of a table"
	BoundConcurrency = "command and query at a time"
)

// NewCapacity scales the month's counts to a number of users, whose peak is so many times the mean. They use a stage
// with these settings, in an account with these quotas. It returns [ErrOptions] unless both numbers are positive.
func NewCapacity(m *Month, users int, peak float64, of StageSettings, quotas Quotas) (Capacity, error) {
	if users < 1 || peak < 1 {
		return Capacity{}, fmt.Errorf("%w: %d users with a peak of %g times the mean: both are at least 1", ErrOptions,
			users, peak)
	}
	b := biller{month: m}
	seconds := float64(m.Load.Days) * day.Seconds()
	// one is the use of one user in a second, as the bill has it.
	one := func(quantity float64) float64 { return quantity / seconds / float64(m.Load.Users) }
	used := b.servicesOf(m.Taken)
	reserve := func(f env.Function) float64 {
		return float64(cmp.Or(of.Reserve[string(f)], size.For(f).Reserved))
	}
	calls := one(used.calls * m.Times)
	inOneMinute := calls * day.Seconds() * fullHour // of one user
	notifying := m.busy(env.Notify) / used.calls    // seconds of a call
	delivering := m.busy(env.Deliver) / used.calls  // of what follows from one
	serving := one((m.busy(env.Command) + m.busy(env.Query)) * m.Times)
	reserved := 0.0
	for _, f := range []env.Function{env.Projections, env.Effects, env.Walk, env.Account, env.Notify, env.Deliver,
		env.Canary} {
		reserved += reserve(f)
	}
	var writes, reads float64
	for _, units := range b.unitsOf(Creates, Updates, Reads, LifeCycle, Devices, Pushes) {
		writes += units.TableUnits
		reads += units.ReadUnits
	}

	c := Capacity{Users: users, Peak: peak}
	// add takes a mean and a peak of one user.
	add := func(what string, mean, most, limit float64, knob string) {
		n := float64(users)
		c.Bounds = append(c.Bounds, Bound{
			what, mean * n, most * n, limit, limit / most, knob, strings.HasPrefix(knob, quotaOf),
		})
	}
	times := func(what string, mean, limit float64, knob string) { add(what, mean, mean*peak, limit, knob) }
	requests := one(used.requests * m.Times)
	times("requests a second, of the stage", requests, float64(cmp.Or(of.RatePerSecond, 500)), "`ratePerSecond`")
	times(BoundRequests, requests, quotas.Requests, quotaOf+"API Gateway")
	times("write units a second, of the stage", one(writes), float64(cmp.Or(of.MaxWriteUnits, 4000)), "`maxWriteUnits`")
	times("read units a second, of the stage", one(reads), float64(cmp.Or(of.MaxReadUnits, 4000)), "`maxReadUnits`")
	times(BoundTableWrites, one(writes), quotas.TableWrites, quotaOf+"DynamoDB, warm throughput")
	times(BoundTableReads, one(reads), quotas.TableReads, quotaOf+"DynamoDB, warm throughput")
	times("projections at a time", one(m.busy(env.Projections)*m.Times), reserve(env.Projections), "`reserve`")
	times("effects at a time", one(m.busy(env.Effects)*m.Times)/consume.DefaultWidth, reserve(env.Effects),
		"`reserve`, `effectsParallel`")
	add(BoundCalls, calls*time.Minute.Seconds(), inOneMinute, quotas.Calls*time.Minute.Seconds(),
		quotaOf+"EventBridge Scheduler")
	add("notify at a time, in that minute", calls*notifying, inOneMinute/time.Minute.Seconds()*notifying,
		reserve(env.Notify), "`reserve`")
	add("deliver at a time, in that minute", calls*delivering, inOneMinute/time.Minute.Seconds()*delivering,
		reserve(env.Deliver), "`reserve`")
	add(BoundSchedules, openSchedules, openSchedules, quotas.Schedules, quotaOf+"EventBridge Scheduler")
	times(BoundConcurrency, serving, quotas.Concurrency-reserved, quotaOf+"Lambda")
	slices.SortStableFunc(c.Bounds, func(a, b Bound) int { return cmp.Compare(a.Users, b.Users) })
	return c, nil
}

// busy returns the seconds for which a function works, for the replayed users, if it has each record alone.
func (m *Month) busy(f env.Function) float64 {
	var ms float64
	for _, t := range m.Taken {
		if w := t.Functions[string(f)]; w != nil {
			ms += w.Milliseconds
		}
	}
	return ms / 1000
}

// Print writes the bounds as a table in Markdown.
func (c Capacity) Print(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "| %s users, peak %g times the mean | mean | peak | limit | reached at users | raised by |\n",
		grouped(float64(c.Users)), c.Peak)
	text.WriteString("| --- | ---: | ---: | ---: | ---: | --- |\n")
	for _, b := range c.Bounds {
		mark := ""
		if b.Peak > b.Limit {
			mark = "**"
		}
		fmt.Fprintf(&text, "| %s | %s | %s%s%s | %s | %s | %s |\n", b.What, grouped(b.Mean), mark, grouped(b.Peak), mark,
			grouped(b.Limit), grouped(rounded(b.Users)), b.Knob)
	}
	if _, err := io.WriteString(out, text.String()); err != nil {
		return fmt.Errorf("print the capacity: %w", err)
	}
	return nil
}

// grouped writes a number with commas; below ten it has one decimal.
func grouped(n float64) string {
	if n < 10 && n != float64(int(n)) {
		return fmt.Sprintf("%.1f", n)
	}
	digits := fmt.Sprintf("%.0f", n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// rounded returns the number to two significant digits: what is reckoned from a model is not known better.
func rounded(n float64) float64 {
	scale := 1.0
	for n/scale >= 100 {
		scale *= 10
	}
	return float64(int(n/scale)) * scale
}
