package alarm

import (
	"slices"

	"nexus/pkg/deploy/env"
)

// leastByURL is the number of refused requests a period below which their share says nothing: ten a second.
const leastByURL = "3000"

// Direct returns the alarms of a stage whose functions also have function URLs: these, and one about the URLs.
// nexus-limited is reckoned by all requests, and not by those of the HTTP API alone. nexus-api-server-errors also
// watches the errors at the URLs. Those that are not the function's own are among them, which no function counts.
func Direct(all []Alarm) []Alarm {
	var out []Alarm
	for _, a := range all {
		switch a.Name {
		case "nexus-limited":
			a.Of = []Metric{
				a.Of[0], lambdaMetric("Invocations", Sum, env.Command), lambdaMetric("Invocations", Sum, env.Query),
			}
			a.Expression = "IF(m0 >= " + leastLimited + ", 100 * m0 / (FILL(m1, 0) + FILL(m2, 0)))"
		case "nexus-api-server-errors":
			a.Of = append(slices.Clone(a.Of),
				lambdaMetric("Url5xxCount", Sum, env.Command), lambdaMetric("Url5xxCount", Sum, env.Query))
			a.Says = "The HTTP API or a function URL answers users with errors, some of which no function counts."
		}
		out = append(out, a)
	}
	const refused = "(FILL(m0, 0) + FILL(m1, 0))"
	return append(out, Alarm{
		Name: "nexus-direct-refused",
		Of: []Metric{
			lambdaMetric("Url4xxCount", Sum, env.Command), lambdaMetric("Url4xxCount", Sum, env.Query),
			lambdaMetric("UrlRequestCount", Sum, env.Command), lambdaMetric("UrlRequestCount", Sum, env.Query),
		},
		Expression: "IF(" + refused + " >= " + leastByURL + ", 100 * " + refused + " / (FILL(m2, 0) + FILL(m3, 0)))",
		Above:      50, Period: steady, Periods: 1, Missing: Good,
		Says: "Most requests by function URLs are refused: they are under attack.",
	})
}
