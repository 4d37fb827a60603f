package e2e_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// mapping is an event source mapping of a stream (AWS Lambda Developer Guide, "Using Lambda with Amazon DynamoDB", with
// "Event filtering" and "Error handling"). It knows nothing but its properties in the template.
type mapping struct {
	*deployed
	stackResource
	target   string // the alias that it calls
	role     string // of the function, in whose name it reads and stores what it gives up
	patterns []any
	lanes    []chan streamRecord
	older    atomic.Int64 // by how much records pass for older than they are, as a time.Duration
	given    atomic.Int64 // records that were given up

	mu    sync.Mutex
	taken []streamRecord // all that passed the filter, in their order
}

func (d *deployed) newMapping(r stackResource) *mapping {
	d.Helper()
	m := &mapping{deployed: d, stackResource: r, target: arnOf("lambda", "function:"+r.text("FunctionName"))}
	name, _, _ := strings.Cut(r.text("FunctionName"), ":")
	m.role = d.lambdas[name].role
	for _, each := range listOf(r.at("FilterCriteria", "Filters")) {
		var pattern any
		if err := json.Unmarshal([]byte(each.(map[string]any)["Pattern"].(string)), &pattern); err != nil {
			d.Fatalf("filter of %s: %v", r.id, err)
		}
		m.patterns = append(m.patterns, pattern)
	}
	for range r.number("ParallelizationFactor") {
		m.lanes = append(m.lanes, make(chan streamRecord, 100_000))
	}
	return m
}

// run reads and delivers until the run ends.
func (m *mapping) run() {
	for _, lane := range m.lanes {
		m.running.Go(func() { m.deliver(lane) })
	}
	m.follow(m.role, m.text("EventSourceArn"), func(records []streamRecord) {
		var passed []streamRecord
		for _, r := range records {
			if slices.ContainsFunc(m.patterns, func(p any) bool { return passes(p, map[string]any(r), true) }) {
				passed = append(passed, r)
			}
		}
		m.mu.Lock()
		m.taken = append(m.taken, passed...)
		m.mu.Unlock()
		m.offer(passed)
	})
}

// offer puts records into the lanes: those of one row into one.
func (m *mapping) offer(records []streamRecord) {
	m.work(len(records))
	for _, r := range records {
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(r.key()))
		m.lanes[int(sum.Sum32()%uint32(len(m.lanes)))] <- r
	}
}

// replay delivers once more all that ever passed the filter.
func (m *mapping) replay() int {
	m.mu.Lock()
	all := slices.Clone(m.taken)
	m.mu.Unlock()
	m.offer(all)
	return len(all)
}

// passes holds a value against a part of a pattern: members of objects all have to pass, of a list one.
func passes(pattern, value any, there bool) bool {
	members, isObject := pattern.(map[string]any)
	if !isObject {
		return slices.ContainsFunc(pattern.([]any), func(rule any) bool { return meetsRule(rule, value, there) })
	}
	object, _ := value.(map[string]any)
	for name, each := range members {
		member, has := object[name]
		if !passes(each, member, has) {
			return false
		}
	}
	return true
}

func meetsRule(rule, value any, there bool) bool {
	comparison, isComparison := rule.(map[string]any)
	if !isComparison {
		return there && rule == value
	}
	text, isText := value.(string)
	for operator, operand := range comparison {
		switch operator {
		case "prefix":
			return isText && strings.HasPrefix(text, operand.(string))
		case "exists":
			return there == operand
		}
	}
	panic(fmt.Sprintf("a filter with %v, which is not known here", rule))
}

// deliver delivers a lane's records in batches: as many as are there, or as come within the window.
func (m *mapping) deliver(lane chan streamRecord) {
	window := time.Duration(m.number("MaximumBatchingWindowInSeconds")) * time.Second
	for {
		var batch []streamRecord
		select {
		case first := <-lane:
			batch = append(batch, first)
		case <-m.ended:
			return
		}
		full := time.After(window)
	gather:
		for len(batch) < m.number("BatchSize") {
			select {
			case next := <-lane:
				batch = append(batch, next)
				continue
			default:
			}
			select {
			case next := <-lane:
				batch = append(batch, next)
			case <-full:
				break gather
			case <-m.ended:
				return
			}
		}
		if !m.finish(batch) {
			return
		}
	}
}

// finish delivers a batch until each of its records is finished or given up. It returns false if the run ends first.
func (m *mapping) finish(batch []streamRecord) bool {
	attempts := 0
	for parts := [][]streamRecord{batch}; len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		done, halve := m.send(part)
		m.work(-done)
		if part = part[done:]; len(part) == 0 {
			attempts = 0
			continue
		}
		if done > 0 {
			attempts = 0
		}
		attempts++
		if m.givesUp(part, attempts) {
			m.fail(part)
			continue
		}
		if halve && len(part) > 1 && m.at("BisectBatchOnFunctionError") == true {
			parts = append([][]streamRecord{part[:len(part)/2], part[len(part)/2:]}, parts...)
		} else {
			parts = append([][]streamRecord{part}, parts...)
		}
		if m.over() {
			return false
		}
		m.pause(betweenReads)
	}
	return true
}

func (m *mapping) givesUp(part []streamRecord, attempts int) bool {
	most, oldest := m.number("MaximumRetryAttempts"), time.Duration(m.number("MaximumRecordAgeInSeconds"))*time.Second
	age := time.Since(part[0].created()) + time.Duration(m.older.Load())
	return most >= 0 && attempts > most || oldest > 0 && age > oldest
}

// send calls the function with records. It returns how many of them, from the first on, are finished, and whether the
// function failed on the whole.
func (m *mapping) send(part []streamRecord) (done int, failed bool) {
	event, err := json.Marshal(map[string]any{"Records": part})
	if err != nil {
		m.Errorf("event: %v", err)
		return 0, true
	}
	o := m.invoke(m.target, event)
	if o.failure != nil {
		return 0, true
	}
	if !slices.Contains(textsOf(m.at("FunctionResponseTypes")), "ReportBatchItemFailures") {
		return len(part), false
	}
	var answer struct {
		BatchItemFailures []struct{ ItemIdentifier string }
	}
	if err := json.Unmarshal(o.body, &answer); err != nil {
		return 0, true
	}
	done = len(part)
	for _, f := range answer.BatchItemFailures {
		at := slices.IndexFunc(part, func(r streamRecord) bool { return r.sequence() == f.ItemIdentifier })
		if at < 0 {
			m.Errorf("%s names a record that was not in the batch: %s", m.id, o.body)
			return 0, true
		}
		done = min(done, at)
	}
	return done, false
}

// fail stores what is given up where the template says, in the form in which Lambda stores it.
func (m *mapping) fail(part []streamRecord) {
	event, _ := json.Marshal(map[string]any{"Records": part})
	object, _ := json.Marshal(map[string]any{
		"requestContext": map[string]any{"condition": "MaximumRecordAgeExceeded", "functionArn": m.target},
		"version":        "1.0", "payload": string(event),
	})
	bucket := m.text("DestinationConfig", "OnFailure", "Destination")
	name := fmt.Sprintf("aws/lambda/%s/shard/%s", m.id, part[0].sequence())
	m.rights.require(m.role, "s3:ListBucket", bucket)
	m.rights.require(m.role, "s3:PutObject", bucket+"/"+name)
	m.services.put(strings.TrimPrefix(bucket, "arn:aws:s3:::")+"/"+name, string(object))
	m.given.Add(int64(len(part)))
	m.work(-len(part))
}
