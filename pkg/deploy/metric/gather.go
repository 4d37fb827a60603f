package metric

import (
	"time"

	"nexus/pkg/table"
)

// gatherFor is how long numbers that nobody waits for are gathered into one line: a line for each invocation would cost
// more than the invocation.
const gatherFor = time.Minute

type subject struct{ dimension, value string }

type gathered struct {
	written time.Time
	values  Values
	used    table.TotalsByOperation
}

// urgent are the metrics that alarms are set on (pkg/deploy/alarm).
func urgent(name string) bool {
	switch name {
	case RecordsParked, RecordsUnfinished, ServerErrors, RemindersMissed, RemindersLate, TableBytes:
		return true
	}
	return false
}

// Add gathers under one dimension what [Writer.Write] would write, and writes the sum once a minute, the first time of
// a process at once. Of RecordAge the greatest counts. What somebody is woken for is written at once, with all that was
// gathered. What is gathered when the process is taken away, at most a minute's, is lost: it is for graphs.
func (w *Writer) Add(dimension, value string, values Values, used table.TotalsByOperation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := subject{dimension, value}
	sum := w.kept[key]
	if sum == nil {
		sum = &gathered{}
		w.kept[key] = sum
	}
	sum.add(values, used)
	now := w.now()
	if !values.wake() && now.Sub(sum.written) < gatherFor {
		return
	}
	w.Write(dimension, value, sum.values, sum.used)
	w.kept[key] = &gathered{written: now}
}

// wake reports whether an alarm may wait for one of the values.
func (v Values) wake() bool {
	for name, n := range v {
		if n != 0 && urgent(name) {
			return true
		}
	}
	return false
}

func (s *gathered) add(values Values, used table.TotalsByOperation) {
	if s.values == nil {
		s.values, s.used = Values{}, table.TotalsByOperation{}
	}
	for name, n := range values {
		if name == RecordAge {
			s.values[name] = max(s.values[name], n)
		} else {
			s.values[name] += n
		}
	}
	for op, use := range used {
		s.used[op] = s.used[op].Plus(use)
	}
}
