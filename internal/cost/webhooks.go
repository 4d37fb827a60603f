package cost

import (
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

const (
	// hookReads and hookWrites are the units of a message below 1 KB that its receiver takes: of the consumer, of the call
	// that sends it, and of the schedule's, which finds nothing. A test of package webhook pins them. hookReads has the
	// fence besides, half a unit a call.
	hookReads, hookWrites = 9 + 2 + 2*0.5, 10
	// hookCalls is the number of calls of the worker for a message.
	hookCalls = 2
	// messageBytes is the size of a message in the table, which stays for a month, and hookLogBytes what a call logs.
	messageBytes, hookLogBytes = 900, 300
)

// webhooks returns what webhooks cost. The replayed users have none, but each of their changes and reminders asks for
// endpoints. Each message is taken to come alone, and each request to be the first of its connection.
func (b biller) webhooks() []Line {
	m := b.month.Model
	n := float64(b.month.Load.WebhookUsers*b.month.Load.WebhookEvents) * float64(b.month.Load.Days)
	var changes, reminders float64
	for _, t := range b.month.Taken {
		if w := t.Functions[string(env.Effects)]; w != nil {
			changes += float64(w.Invocations) * b.month.Times
		}
		reminders += float64(t.Events) * b.month.Times
	}
	const transactions, writes = 1, 5
	send := hookCalls*m.OwnMilliseconds + hookReads*m.ReadMilliseconds + writes*m.WriteMilliseconds +
		transactions*m.TransactionMilliseconds + m.PushMilliseconds
	put := m.TransactionMilliseconds + m.ScheduleMilliseconds + m.PublishMilliseconds
	gb := func(f env.Function) float64 { return float64(size.For(f).MemoryMB) / 1024 }
	time := gb(env.Deliver)*(n*send+reminders*m.ReadMilliseconds) + gb(env.Effects)*(n*put+changes*m.ReadMilliseconds)
	lines := []Line{
		b.line("webhooks, invocations of deliver", functionRequests, Modelled, n*hookCalls),
		b.line("webhooks, time", functionTime, Modelled, time/1000),
		b.line("webhooks, logs", logs, Modelled, n*hookCalls*hookLogBytes/gigabyte),
	}
	for i := range lines {
		lines[i].Cost = lines[i].Whole // what is free is used up
	}
	return append(lines,
		b.line("webhooks reads, for each change", tableReads, Modelled, changes+reminders),
		b.line("webhooks writes, table", tableWrites, Modelled, n*hookWrites),
		b.line("webhooks reads", tableReads, Modelled, n*hookReads),
		b.line("webhooks, storage", tableStorage, Modelled, n*(messageBytes+rowOverhead)/gigabyte),
		b.line("webhooks, calls by the scheduler", scheduleCalls, Modelled, n),
		b.line("webhooks, messages sent", dataOut, Modelled, n*float64(m.PushBytes)/gigabyte),
	)
}
