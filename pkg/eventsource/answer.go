package eventsource

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"nexus/pkg/change"
)

// batchAnswer is a function's answer under ReportBatchItemFailures (Lambda developer guide, "Configuring partial batch
// response with DynamoDB"). Names are matched exactly: a misspelt batchItemFailures is an empty answer, and so a
// success, in Lambda too.
type batchAnswer struct {
	BatchItemFailures []struct {
		ItemIdentifier *string `json:"itemIdentifier"`
	} `json:"batchItemFailures"`
}

// ErrAnswer says that the handler returned an answer that Lambda cannot use, so that the whole batch counts as failed.
var ErrAnswer = errors.New("unusable answer")

// finished returns how many of the records, from the first on, the answer leaves finished. These are all of them if it
// reports no failure, else those before the lowest one reported, by position in the batch. An answer that Lambda
// cannot read, or that names no record of the batch, fails the whole batch: the error says why.
func finished(answer []byte, records []change.Record) (int, error) {
	if len(bytes.TrimSpace(answer)) == 0 {
		return len(records), nil
	}
	var a *batchAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if a == nil {
		return len(records), nil
	}
	position := make(map[string]int, len(records))
	for i, r := range records {
		position[r.Sequence] = i
	}
	lowest := len(records)
	for _, failure := range a.BatchItemFailures {
		if failure.ItemIdentifier == nil || *failure.ItemIdentifier == "" {
			return 0, fmt.Errorf("%w: a failure without an itemIdentifier", ErrAnswer)
		}
		at, ok := position[*failure.ItemIdentifier]
		if !ok {
			return 0, fmt.Errorf("%w: %q is no sequence number of the batch", ErrAnswer, *failure.ItemIdentifier)
		}
		lowest = min(lowest, at)
	}
	return lowest, nil
}
