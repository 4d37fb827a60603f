package e2e_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"nexus/pkg/queue"
)

// queued is a message of a queue.
type queued struct {
	queue.Message
	receives int
	out      bool // a function has it
}

// keep puts a message into a queue, whose ARN is given, from which nothing takes it.
func (d *deployed) keep(arn, body string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept[arn] = append(d.kept[arn], body)
}

// enqueue takes a message of the one queue that is read.
func (d *deployed) enqueue(m queue.Message) {
	d.work(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.ContainsFunc(d.waiting, func(q *queued) bool { return q.ID == m.ID }) { // within five minutes
		d.waiting = append(d.waiting, &queued{Message: m})
	} else {
		d.busy.Add(-1)
	}
}

// receive returns the next message: the first of a group of which no other is out.
func (d *deployed) receive() *queued {
	d.mu.Lock()
	defer d.mu.Unlock()
	groups := map[string]bool{}
	for _, q := range d.waiting {
		if !groups[q.Group] && !q.out {
			q.out = true
			q.receives++
			return q
		}
		groups[q.Group] = true
	}
	return nil
}

// endDelivery ends a delivery: the message is gone, comes again, or is dead.
func (d *deployed) endDelivery(q *queued, done bool, most int, dead string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q.out = false
	if !done && q.receives < most {
		return // it becomes visible again, here at once
	}
	d.waiting = slices.DeleteFunc(d.waiting, func(each *queued) bool { return each == q })
	if !done {
		d.kept[dead] = append(d.kept[dead], string(q.Body))
	}
	d.work(-1)
}

// readQueue is an event source mapping of a queue, as the template has it (AWS Lambda Developer Guide, "Using Lambda
// with Amazon SQS").
func (d *deployed) readQueue(r stackResource) {
	source := r.text("EventSourceArn")
	var from stackResource
	for _, q := range d.stack.all("AWS::SQS::Queue") {
		if arnOf("sqs", q.name()) == source {
			from = q
		}
	}
	name, _, _ := strings.Cut(r.text("FunctionName"), ":")
	role := d.lambdas[name].role
	for range r.number("ScalingConfig", "MaximumConcurrency") {
		d.running.Go(func() {
			for !d.over() {
				q := d.receive()
				if q == nil {
					d.pause(betweenReads)
					continue
				}
				for _, action := range []string{"sqs:ReceiveMessage", "sqs:GetQueueAttributes", "sqs:DeleteMessage"} {
					d.rights.require(role, action, source)
				}
				o := d.invoke(arnOf("lambda", "function:"+r.text("FunctionName")), queueEvent(q, source))
				d.endDelivery(q, o.failure == nil, from.number("RedrivePolicy", "maxReceiveCount"),
					from.text("RedrivePolicy", "deadLetterTargetArn"))
			}
		})
	}
}

func queueEvent(q *queued, source string) []byte {
	sum := md5.Sum(q.Body)
	event, _ := json.Marshal(map[string]any{"Records": []any{map[string]any{
		"messageId": q.ID, "receiptHandle": "handle", "body": string(q.Body), "md5OfBody": hex.EncodeToString(sum[:]),
		"attributes": map[string]any{
			"ApproximateReceiveCount": fmt.Sprint(q.receives), "MessageGroupId": q.Group, "MessageDeduplicationId": q.ID,
		},
		"messageAttributes": map[string]any{}, "eventSource": "aws:sqs", "eventSourceARN": source, "awsRegion": stackRegion,
	}}})
	return event
}

// schedule carries out what is due: it calls what each schedule names, in the name of the role that it names. The
// schedule is gone afterwards if it says so.
func (d *deployed) schedule() {
	group := d.stack.one("AWS::Scheduler::ScheduleGroup", nil).name()
	for !d.over() {
		for name, s := range d.services.waiting() {
			at, err := time.Parse(scheduleForm, s.ScheduleExpression)
			if err != nil || s.GroupName != group {
				d.Errorf("schedule %s of group %s: %v", name, s.GroupName, err)
				continue
			}
			if time.Now().Before(at) || !d.services.complete(name, s) {
				continue
			}
			d.called.Add(1)
			role := strings.TrimPrefix(s.Target.RoleArn, "arn:aws:iam::"+stackAccount+":role/")
			d.rights.require(role, "lambda:InvokeFunction", s.Target.Arn)
			d.invokeLater(s.Target.Arn, []byte(s.Target.Input))
		}
		d.pause(betweenReads)
	}
}

// complete notes that a schedule is called now, unless it has become another or was called, and removes it if it says
// so. It reports whether it is called.
func (s *services) complete(name string, called scheduled) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.schedules[name] != called || s.completed[name] {
		return false
	}
	s.completed[name] = true
	if called.ActionAfterCompletion == "DELETE" {
		delete(s.schedules, name)
	}
	return true
}

// put stores an object.
func (s *services) put(name, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name] = content
}

// canaryFunction is a user of the API at its own address, and the one function that is not run here.
const canaryFunction = prefixOfFunctions + "canary"

// announce gives an event of the bus to the targets of the rules whose pattern it has (Amazon EventBridge User Guide,
// "Creating Amazon EventBridge event patterns").
func (d *deployed) announce(e published) {
	for _, rule := range d.stack.all("AWS::Events::Rule") {
		pattern, _ := rule.at("EventPattern").(map[string]any)
		if pattern == nil || rule.text("EventBusName") != e.EventBusName ||
			!slices.Contains(textsOf(pattern["source"]), e.Source) ||
			!slices.Contains(textsOf(pattern["detail-type"]), e.DetailType) {
			continue
		}
		event, _ := json.Marshal(map[string]any{
			"version": "0", "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa", "detail-type": e.DetailType, "source": e.Source,
			"account": stackAccount, "time": time.Now().UTC().Format(instantForm), "region": stackRegion,
			"resources": []string{}, "detail": json.RawMessage(e.Detail),
		})
		for _, each := range listOf(rule.at("Targets")) {
			arn := each.(map[string]any)["Arn"].(string)
			d.requirePermission("events.amazonaws.com", arn)
			d.invokeLater(arn, event)
		}
	}
}

// callRules has the rules of the template that name times call their targets once.
func (d *deployed) callRules() {
	d.Helper()
	for _, rule := range d.stack.all("AWS::Events::Rule") {
		if rule.text("ScheduleExpression") == "" {
			continue
		}
		for _, each := range listOf(rule.at("Targets")) {
			arn := each.(map[string]any)["Arn"].(string)
			if strings.Contains(arn, canaryFunction+":") {
				continue
			}
			d.requirePermission("events.amazonaws.com", arn)
			event, _ := json.Marshal(map[string]any{
				"version": "0", "detail-type": "Scheduled Event", "source": "aws.events", "account": stackAccount,
				"time": time.Now().UTC().Format(instantForm), "region": stackRegion, "detail": map[string]any{},
				"resources": []string{arnOf("events", "rule/"+rule.name())},
			})
			d.invokeLater(arn, event)
		}
	}
}
