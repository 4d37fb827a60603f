// Package eventsource reads a change stream and drives a handler the way a Lambda event source mapping does, so that
// the same handler runs in the local platform and in AWS.
//
// It promises what Lambda promises and no more: every record that passes the filter is delivered at least once, the
// records of one shard in order, a parent shard to its end before its children, several shards at once. A checkpoint
// moves only behind records that the handler finished or that the on-failure destination took. A batch comes again
// whole or from the lowest sequence number that the handler reports, is cut in two where the mapping bisects, and is
// given up only where the mapping bounds its retries or the records' age.
//
// It must never decide anything about a record beyond the filter, never drop one without the destination's
// acknowledgement, and knows neither entities nor the SDK: sources are adapters below it.
package eventsource
