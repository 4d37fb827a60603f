// Package wiretest is what the tests of the adapters to AWS have in common: the documented constraints of each
// operation that Nexus calls, as data; a guard that holds every request on the wire against them; the errors that each
// operation is documented to answer with, in the form in which they travel; and a network that fails on purpose.
//
// It promises that a request which passes a guard breaks no rule that the service's own API reference states for it: no
// member missing, unknown, too long, too large, out of its pattern or out of its range, and none of the rules that bind
// several members. What the references do not say (when a service throttles, which rights a role has, what "soon" is)
// no local test can show.
//
// It must never know the adapters: what is written here comes from the services' documents alone, named at each
// operation, so that an adapter and its test cannot share a mistake.
package wiretest
