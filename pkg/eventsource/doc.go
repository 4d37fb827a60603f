// Package eventsource reads a change stream and drives a handler as a Lambda event source mapping does, so that the
// same handler runs in the local platform and in AWS.
//
// It promises what Lambda promises and no more:
//   - Every record that passes the filter is delivered at least once: the records of one shard in order, a parent
//     shard to its end before its children, several shards at once.
//   - A checkpoint advances only over records that the handler finished or that the on-failure destination accepted.
//   - A failed batch is delivered again whole, or from the lowest sequence number that the handler reports. It is cut
//     in two if the mapping bisects. It is given up only if the mapping bounds its retries or the records' age.
//
// It must never decide anything about a record except by the filter, and never drop one without the destination's
// acknowledgement. It must never know entities or the SDK: sources are adapters below it.
package eventsource
