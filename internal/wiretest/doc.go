// Package wiretest holds what the tests of the AWS adapters share: the documented constraints of each operation that
// Nexus calls, as data; a guard that checks every request on the wire against them; the documented errors of each
// operation, in their form on the wire; and a network that fails on purpose.
//
// It promises that a request which passes a guard breaks no rule of the service's own API reference. No member is
// missing, unknown, too long, too large, out of its pattern or out of its range, and none of the rules that bind
// several members is broken. No local test can show what the references do not say (when a service throttles, which
// rights a role has, what "soon" is).
//
// It must never know the adapters: its content comes from the services' documents alone, named at each operation, so
// that an adapter and its test cannot share a mistake.
package wiretest
