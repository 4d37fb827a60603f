package metric

import (
	"time"

	"nexus/pkg/table"
)

// gatherFor is how long non-urgent figures are gathered into one line: a line for each invocation would cost more than
// the invocation.
const gatherFor = time.Minute

type subject struct{ dimension, value string }

type gathered struct {
	written time.Time
	values  Values
	used    table.TotalsByOperation
}

// Add gathers under one dimension what [Writer.Write] would write. It writes the sum once a minute, and at once the
// first time in a process. Of RecordAge the greatest counts. It writes a figure with an alarm at once, with everything
// gathered so far. If the process ends, the figures gathered since, at most a minute's, are lost.
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
		if n != 0 && isMetric(name) {
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
