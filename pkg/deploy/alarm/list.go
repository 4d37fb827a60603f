package alarm

import (
	"slices"
	"time"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
)

const (
	// quick is the period of urgent or short conditions, steady of those that have to last.
	quick  = time.Minute
	steady = 5 * time.Minute
	// storage is the period of a figure that DynamoDB updates every six hours.
	storage = 24 * time.Hour
	// behind is the delay of readers at which an operator must look: users notice it.
	behind = 5 * time.Minute
	// walksLate is the age of a walk at which an operator must look. A walk that fails keeps its user's others waiting for
	// five times the queue's visibility timeout, 30 minutes.
	walksLate = 30 * time.Minute
	// losing is the delay at which half a day is left until records are given up.
	losing = 12 * time.Hour
)

// All returns every alarm of a deployment with these readers, in the order of the document. Alarms of losses that
// continue until an operator acts are first.
func All(table []readers.Reader) []Alarm {
	out := []Alarm{{
		Name: "nexus-parked", Of: counted(metric.RecordsParked), Period: quick, Periods: 1, Missing: Good,
		Says: "A record can never be processed as it is and is kept; or it waits for a later release.",
	}}
	for _, r := range table {
		out = append(out, readerAlarms(r.Name)...)
	}
	out = append(out, Alarm{
		Name: "nexus-unfinished", Of: counted(metric.RecordsUnfinished), Period: steady, Periods: 3, Missing: Good,
		Says: "Records come again and again to a consumer and it does not get them done.",
	})
	for _, r := range table {
		out = append(out, silentAlarm(r.Name))
	}
	return slices.Concat(out, canaryAlarms(), reminderAlarms(), notifyAlarms(), deliverAlarms(), []Alarm{{
		Name: "nexus-erase-overdue",
		Of: []Metric{
			measured(metric.Namespace, metric.ErasuresOverdue, Maximum, Subject{metric.ByFunction, string(env.Account)}),
		},
		Period: steady, Periods: 3, Missing: Good,
		Says: "An account should have been erased a day ago, and is not: the law asks for it.",
	}}, functionAlarms(), apiAlarms(), tableAlarms())
}

// lambdaMetric returns a metric of Lambda about a function.
func lambdaMetric(name, statistic string, f env.Function) Metric {
	return measured(Lambda, name, statistic, Subject{FunctionName, string(f)})
}

// readerAlarms returns the alarms about the delay of a stream function.
func readerAlarms(name string) []Alarm {
	age := func(suffix string, above time.Duration, says string) Alarm {
		return Alarm{
			Name: "nexus-" + name + "-" + suffix, Of: []Metric{lambdaMetric("IteratorAge", Maximum, env.Function(name))},
			Above: float64(above.Milliseconds()), Period: quick, Periods: 5, Missing: Good, Says: says,
		}
	}
	return []Alarm{
		{
			Name: "nexus-" + name + "-given-up",
			Of: []Metric{
				measured(Lambda, "OnFailureDestinationDeliveredEventCount", Sum, Subject{Mapping, name}),
			},
			Period: quick, Periods: 1, Missing: Good,
			Says: "Records were too old to be tried again; they are kept as failure objects.",
		},
		{
			Name: "nexus-" + name + "-lost", Of: []Metric{lambdaMetric("DestinationDeliveryFailures", Sum, env.Function(name))},
			Period: quick, Periods: 1, Missing: Good,
			Says: "Records that were given up could not be kept: only a repair brings back what they meant.",
		},
		age("losing", losing, "The reader is half a day behind; records are given up after 23 hours."),
		age("behind", behind, "What follows from writes comes more than five minutes late."),
	}
}

// waiting returns an alarm about messages of what failed.
func waiting(name, queue, says string) Alarm {
	return Alarm{
		Name: name, Of: []Metric{measured(SQS, "ApproximateNumberOfMessagesVisible", Maximum, Subject{QueueName, queue})},
		Period: quick, Periods: 1, Missing: Good, Says: says,
	}
}

func reminderAlarms() []Alarm {
	return []Alarm{
		waiting("nexus-schedule-undelivered", ScheduleQueue,
			"The scheduler could not call notify or deliver for a day; its calls are kept."),
		waiting("nexus-notify-failed", NotifyQueue, "Calls of notify failed each time they were made; they are kept."),
		waiting("nexus-walks-failed", DeadWalkQueue,
			"Walks over a user's items failed each time; their reminders may be at the wrong time."),
		{
			Name:  "nexus-walks-behind",
			Of:    []Metric{measured(SQS, "ApproximateAgeOfOldestMessage", Maximum, Subject{QueueName, WalkQueue})},
			Above: walksLate.Seconds(), Period: steady, Periods: 3, Missing: Good,
			Says: "Changes of time zone or of series reach the reminders more than half an hour late.",
		},
		{
			Name: "nexus-reminders-missed", Of: counted(metric.RemindersMissed), Period: steady, Periods: 1, Missing: Good,
			Says: "Reminders that were asked for in time were found more than a day late, and are not published.",
		},
		{
			Name: "nexus-reminders-late", Of: counted(metric.RemindersLate), Above: 10, Period: steady, Periods: 3,
			Missing: Good, Says: "Reminders keep coming more than two minutes late.",
		},
	}
}

// notifyAlarms returns the alarms about what lies between the scheduler and notify: Lambda takes the call into a queue
// of its own.
func notifyAlarms() []Alarm {
	scheduler := func(name string) Metric { return measured(Scheduler, name, Sum, Subject{ScheduleGroup, "schedules"}) }
	return []Alarm{
		{
			Name: "nexus-notify-dropped", Of: []Metric{lambdaMetric("AsyncEventsDropped", Sum, env.Notify)},
			Period: steady, Periods: 1, Missing: Good, Says: "Lambda dropped calls of notify before it ran them.",
		},
		{
			Name: "nexus-notify-waiting", Of: []Metric{lambdaMetric("AsyncEventAge", Slowest, env.Notify)},
			Above: float64((2 * time.Minute).Milliseconds()), Period: steady, Periods: 1, Missing: Good,
			Says: "Calls of notify wait for more than two minutes until Lambda runs them.",
		},
		{
			Name:   "nexus-scheduler-throttled",
			Of:     []Metric{scheduler("InvocationThrottleCount"), scheduler("InvocationDroppedCount")},
			Period: steady, Periods: 1, Missing: Good,
			Says: "The scheduler holds calls back, or has given some up.",
		},
	}
}

// deliverAlarms returns the alarms about reminders on devices.
func deliverAlarms() []Alarm {
	return []Alarm{
		waiting("nexus-deliver-failed", DeliverQueue,
			"Reminders were not brought to devices each time it was tried; they are kept."),
		{
			Name: "nexus-push-refused", Of: counted(metric.PushRefused), Period: steady, Periods: 1, Missing: Good,
			Says: "A push service refuses the deployment's key: its reminders reach no device.",
		},
	}
}

// Numbers of requests and their time at which -slow rings.
const (
	slowMilliseconds = 500
	// slowRequests is the least number of requests a period of which the slowest says anything. Without them there is no
	// data, and the alarm stays as it is.
	slowRequests = "20"
	// leastLimited is the least number of refusals a period at which -limited rings: by night one user's client is soon
	// more than one request of a hundred.
	leastLimited = "20"
)

// functionAlarms returns the alarms that every function has, and those of the two that serve users.
func functionAlarms() []Alarm {
	var out []Alarm
	throttled := Alarm{
		Name: "nexus-functions-throttled", Period: steady, Periods: 1, Missing: Good,
		Says: "Lambda did not run a function for want of concurrency.",
	}
	for _, f := range env.Functions() {
		if f == env.Canary { // it has alarms of its own
			continue
		}
		out = append(out, Alarm{
			Name: "nexus-" + string(f) + "-errors", Of: []Metric{lambdaMetric("Errors", Sum, f)}, Above: 5, Period: steady,
			Periods: 1, Missing: Good, Says: "Invocations fail as a whole.",
		})
		throttled.Of = append(throttled.Of, lambdaMetric("Throttles", Sum, f))
	}
	for _, f := range []env.Function{env.Command, env.Query} {
		out = append(out, Alarm{
			Name: "nexus-" + string(f) + "-slow", Expression: "IF(m1 >= " + slowRequests + ", m0)",
			Of:    []Metric{lambdaMetric("Duration", Slowest, f), lambdaMetric("Invocations", Sum, f)},
			Above: slowMilliseconds, Period: steady, Periods: 3, Missing: Ignore,
			Says: "One request of a hundred takes more than half a second.",
		})
	}
	return append(out, throttled)
}

func apiAlarms() []Alarm {
	api := func(name string) Metric { return measured(Gateway, name, Sum, Subject{APIID, "api"}) }
	return []Alarm{
		{
			Name: "nexus-server-errors", Of: counted(metric.ServerErrors), Above: 5, Period: quick, Periods: 3, Missing: Good,
			Says: "Users' requests are answered with 500 or 503.",
		},
		{
			Name: "nexus-api-server-errors", Of: []Metric{api("5xx")}, Above: 5, Period: quick, Periods: 3, Missing: Good,
			Says: "The HTTP API answers users with errors, some of which never reach a function.",
		},
		{
			// Fewer refusals say nothing, and are no data.
			Name: "nexus-limited", Expression: "IF(m0 >= " + leastLimited + ", 100 * m0 / m1)",
			Of:    []Metric{measured(metric.Namespace, metric.RequestsLimited, Sum), api("Count")},
			Above: 1, Period: 3 * steady, Periods: 1, Missing: Good,
			Says: "More than one request of a hundred is refused because its user has used up a rate.",
		},
	}
}
