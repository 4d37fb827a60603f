// Package webhook tells the endpoints of users of what happens to their items, by the specification Standard Webhooks.
// It owns the rows MSG#, OUT# and LANE#: the messages, those that are to be sent, and the state of each endpoint's
// lane.
//
// It promises the laws W1 to W3 and W5 of docs/webhooks.md. Every matching event of an active endpoint is done or dead
// in the end. A message has the same id and body in all attempts. With the ordering fifo nothing is attempted before
// the earlier versions of its item. An endpoint that answers 410, or fails for 5 days, is disabled.
//
// Repeating a record is safe: the keys of both rows follow from the record and the endpoint. The message is put where
// there is no row, and outlives its sending by 30 days. Repeating a call is safe: the rows decide what is due. Every
// outcome is written under the row as it was read, so a late worker makes no row. A lost answer sends the same id and
// body again, by which the receiver knows it.
//
// It must never know how a request reaches an endpoint: the port [Client] does.
package webhook
