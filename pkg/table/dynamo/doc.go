// Package dynamo is the store port on DynamoDB.
//
// It promises what package table promises of every adapter, and says in errors no more than it knows:
// [table.ErrThrottled], [table.ErrConflict] and [table.ErrInvalid] come back only if nothing was written,
// [table.ErrUnavailable] whenever something may have been. A load, which is no atomic write, may have written any part
// of its rows whatever the error.
//
// Answers get lost, and the SDK then repeats the request. A transaction carries a client token, so that the service
// recognises the repetition. A single write has none: its repetition may meet the row that the lost attempt wrote and
// fail its condition. Such a failure counts as success if an earlier attempt of the same call may have been applied and
// the row is the one intended (for a delete: no row). If somebody has changed that row in between, the failure is
// reported as it stands; whoever cannot live with that puts a second action into a transaction.
//
// It must never scan (the operators' [Walker] apart), write an expression that a caller supplied, or hide that a call
// was refused. Types of the SDK cross its border only where a client is handed in.
package dynamo
