package eventsource

import (
	"time"

	"nexus/pkg/change"
)

// part is a run of a batch's records that is delivered together.
type part struct {
	records []change.Record
	retries int // used up by these records
	invoked int // how often the handler saw them
}

// halves cuts the part in two; neither is empty if the part has two records.
func (p part) halves() []part {
	middle := len(p.records) / 2
	first, second := p, p
	first.records, second.records = p.records[:middle], p.records[middle:]
	return []part{first, second}
}

// action says what follows an invocation for the records that it did not finish: the first ones are given up, the
// others delivered again.
type action struct {
	giveUp    []change.Record
	condition Condition
	again     []part
}

// decide applies the mapping's policy to a part of which the handler finished the first records, in the terms of
// Lambda's configuration: report batch item failures, bisect on error, maximum record age, maximum retry attempts.
func (c Config) decide(p part, finished int, now time.Time) action {
	rest := p
	rest.records = p.records[finished:]
	if len(rest.records) == 0 {
		return action{}
	}
	if finished > 0 {
		rest.retries = 0 // another record is the first now
	}
	if c.Bisect && len(rest.records) > 1 {
		if finished > 0 {
			return action{again: []part{rest}} // the batch is cut at the reported record
		}
		return action{again: rest.halves()}
	}
	if aged := c.aged(rest.records, now); aged > 0 {
		a := action{giveUp: rest.records[:aged], condition: MaximumRecordAgeExceeded}
		if aged < len(rest.records) {
			a.again = []part{{records: rest.records[aged:], invoked: rest.invoked}}
		}
		return a
	}
	if c.RetryAttempts > 0 && rest.retries >= c.RetryAttempts {
		return action{giveUp: rest.records, condition: RetryAttemptsExhausted}
	}
	rest.retries++
	return action{again: []part{rest}}
}

// aged returns how many records, from the first on, are past the maximum age.
func (c Config) aged(records []change.Record, now time.Time) int {
	if c.MaxAge == 0 {
		return 0
	}
	for i, record := range records {
		if now.Sub(record.Created) < c.MaxAge {
			return i
		}
	}
	return len(records)
}
