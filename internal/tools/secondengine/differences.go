package main

import "fmt"

// difference is one thing in which the engine differs from the service, and what the bridge does about it.
type difference struct {
	name string
	// engine and service say what each does; source is where the service documents it.
	engine, service, source string
	// bridged says that the bridge makes it good, as does says; otherwise does says why nothing depends on it.
	bridged bool
	does    string
}

// The names of the differences that the bridge makes good.
const (
	emptyValues = "empty values"
	manyActions = "large transactions"
	noOldRow    = "row of a failed write"
	prefixCase  = "prefix of a sort key"
	emptyShard  = "beginning of a shard"
)

// differences are all that are known. What is not here fails the run. docs/deploy.md has the same table.
func differences() []difference {
	return []difference{
		{
			name: emptyValues, engine: "refuses empty texts and binaries", service: "takes them outside of keys",
			source: "Developer Guide, Data types", bridged: true,
			does: "a mark stands for them, which sorts before other values",
		},
		{
			name: manyActions, engine: "takes 10 actions", service: "takes 100",
			source: "API Reference, TransactWriteItems", bridged: true,
			does: "checks all conditions, then applies 10 actions at a time; other requests wait",
		},
		{
			name: noOldRow, engine: "leaves the row out", service: "returns it on demand",
			source: "API Reference, PutItem", bridged: true,
			does: "sends the write again and reads the row; other requests wait",
		},
		{
			name: prefixCase, engine: "ignores case in `begins_with`", service: "compares bytes",
			source: "Developer Guide, Key condition expressions", bridged: true,
			does: "asks for the range from the prefix to its end",
		},
		{
			name: emptyShard, engine: "is trimmed, if another table is written first", service: "is where it was",
			source: "API Reference, GetRecords", bridged: true,
			does: "reads from the shard's beginning again",
		},
		{
			name: "time of a record", engine: "cuts it to the minute", service: "cuts it to the second",
			source: "API Reference, StreamRecord", does: "no effect reads it; the age of records is a metric",
		},
		{
			name: "region and account in ARNs", engine: "`ddblocal` and zeros", service: "the deployment's",
			source: "API Reference, Record", does: "the programs take ARNs as they come",
		},
		{
			name: "rows whose time is over", engine: "stay", service: "are removed by the service",
			source: "Developer Guide, Time to Live", does: "the tests bring such removals as payloads of `events/`",
		},
	}
}

// markdown is a difference as a row of the table in docs/deploy.md.
func (d difference) markdown() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s |", d.name, d.engine, d.service, d.does, d.source)
}

// hidden says of what the run shows nothing.
var hidden = []string{
	"throttling, adaptive capacity, and the time that an index or a stream lags behind",
	"removals by TTL, splits of shards, and the end of a stream's 24 hours",
	"signatures, roles and policies: rights are judged against pkg/deploy/access in front of the engine",
	"the atomicity of transactions of more than 10 actions, which the bridge makes",
	"anything in which this version, of January 2020, is older than the service",
}
