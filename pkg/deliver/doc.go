// Package deliver tells a user's devices of reminders, by Web Push. It owns the rows DEVICE#, PUSH# and ACT#: the
// devices, the outcome of each delivery on each of them, and the choice that the user made there.
//
// It promises the laws D1 to D4 of docs/push.md. A device that was registered when the event is handled is told before
// the delivery's end, or its row says why not. What comes twice replaces itself. A device leaves by the answer about
// its present endpoint alone. After the end nothing is told. Repeating an event or a call is safe: the row is put
// before the request, and both follow from event and device. Every outcome is written under the row as it was read, so
// a late worker makes no row. It must never know how a request reaches a push service: the port [Sender] does.
package deliver
