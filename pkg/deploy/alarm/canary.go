package alarm

import "nexus/pkg/deploy/env"

// canaryPeriods are those of which one may be bad without meaning anything: a rule may skip one, and late data make the
// latest look empty.
const canaryPeriods = 4

// silentAlarm returns the alarm about a reader that is not called although something is written. Its own metrics exist
// only while it is called. The canary writes, by night too, and every reader's filter lets its changes pass. A period
// has two calls of the canary at most, so a reader that is called at all outweighs them. The comparison holds whether
// FILL makes zeros of a metric that has no data at all, or nothing: its description leaves that open.
func silentAlarm(reader string) Alarm {
	return Alarm{
		Name: "nexus-" + reader + "-silent", Expression: "IF(FILL(m0, 0) > 1000 * FILL(m1, 0), 1, 0)",
		Of: []Metric{
			lambdaMetric("Invocations", Sum, env.Canary), lambdaMetric("Invocations", Sum, env.Function(reader)),
		},
		Period: steady, Periods: canaryPeriods, Enough: canaryPeriods - 1, Missing: Bad,
		Says: "The canary writes, and the reader is not called: nothing that follows from writes happens.",
	}
}

func canaryAlarms() []Alarm {
	return []Alarm{
		{
			Name: "nexus-canary-failed", Of: []Metric{lambdaMetric("Errors", Sum, env.Canary)},
			Period: steady, Periods: 3, Enough: 2, Missing: Bad,
			Says: "What the canary does as a user does not work.",
		},
		{
			Name: "nexus-canary-silent", Expression: "IF(FILL(m0, 0) < 1, 1, 0)",
			Of:     []Metric{lambdaMetric("Invocations", Sum, env.Canary)},
			Period: steady, Periods: 3, Missing: Bad,
			Says: "The canary is not called: nothing tells whether the deployment works.",
		},
	}
}
