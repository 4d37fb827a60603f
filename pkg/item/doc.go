// Package item holds the neutral form in which a row travels between the code and a store: an [Item] of [Value]s under
// a [Key], and instants and dates as text.
//
// It promises that text order of instants is time order, that a change of a clone leaves its original alone, and that
// [Size] counts what DynamoDB counts. It must never know an entity, a store or a clock. It imports only pkg/wallclock
// and the standard library.
package item
