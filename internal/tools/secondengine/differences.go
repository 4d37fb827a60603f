package main

// difference is one thing in which the engine differs from the service, and what the bridge does about it.
type difference struct {
	name string
	// engine and service say what each does; source is where the service documents it.
	engine, service, source string
	bridge                  string
}

// The names of the differences.
const (
	emptyValues = "empty values"
	manyActions = "large transactions"
	noOldRow    = "row of a failed write"
	prefixCase  = "prefix of a sort key"
)

// differences are all that are known. What is not here fails the run.
func differences() []difference {
	return []difference{
		{
			name: emptyValues, engine: "refuses empty texts and binaries", service: "takes them outside of keys",
			source: "Developer Guide, Constraints, Data types",
			bridge: "a mark stands for them in the engine; it sorts before every other value",
		},
		{
			name: manyActions, engine: "takes 10 actions", service: "takes 100",
			source: "API Reference, TransactWriteItems",
			bridge: "all conditions are checked, then the actions are applied 10 at a time; no other request comes between",
		},
		{
			name: noOldRow, engine: "leaves the row out", service: "returns it where ReturnValuesOnConditionCheckFailure asks",
			source: "API Reference, PutItem",
			bridge: "the write is sent again, and the row is read; no other request comes between",
		},
		{
			name: prefixCase, engine: "ignores case in begins_with", service: "compares bytes",
			source: "Developer Guide, Key condition expressions",
			bridge: "a range from the prefix to its end is asked for",
		},
	}
}
