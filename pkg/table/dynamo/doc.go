// Package dynamo is the store port on DynamoDB.
//
// It promises what package table promises of every adapter. Its errors are exact about the outcome:
//   - [table.ErrThrottled], [table.ErrConflict] and [table.ErrInvalid] mean that nothing was written.
//   - [table.ErrUnavailable] means that something may have been written.
//   - A load is no atomic write: after any error it may have written any part of its rows.
//
// An answer can get lost, and the SDK then repeats the request. A transaction carries a client token, so the service
// recognises the repetition. A single write has none: its repetition may find the row that the lost attempt wrote, and
// fail its condition. The adapter reports success if an earlier attempt of the same call may have been applied and the
// row is the intended one (for a delete: no row). If another writer has changed that row in between, the adapter
// reports the failure. A caller that needs certainty adds a second action, which makes the write a transaction.
//
// It must never scan (only the operators' [Walker] does), write an expression that a caller supplied, or hide that a
// call was refused. Types of the SDK appear in its API only where the caller passes a client.
package dynamo
