package e2e_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"nexus/pkg/deploy/env"
)

// prefixOfFunctions begins the names of the stack's functions; the rest names the program.
const prefixOfFunctions = "nexus-"

// mostEnvironments bounds the environments of a function, on a machine that has to run all of them.
const mostEnvironments = 4

// lambda is a function of the template: its program runs in as many environments as there are calls at a time.
type lambda struct {
	*deployed
	name, role, log string
	environment     map[string]string
	timeout         time.Duration
	free            chan struct{} // one for each environment that may work

	mu      sync.Mutex
	idle    []*place
	started int
	most    int // environments that worked at one time
	busy    int
}

// place is an execution environment: one process, one call at a time.
type place struct {
	*function
	id string
}

func (d *deployed) newLambda(r stackResource, s *stack) *lambda {
	d.Helper()
	l := &lambda{
		deployed: d, name: r.name(), timeout: time.Duration(r.number("Timeout")) * time.Second,
		role:        strings.TrimPrefix(r.text("Role"), "arn:aws:iam::"+stackAccount+":role/"),
		environment: map[string]string{}, free: make(chan struct{}, mostEnvironments),
	}
	l.log = fmt.Sprint(s.one("AWS::Logs::LogGroup", map[string]string{
		"LogGroupName": r.text("LoggingConfig", "LogGroup"),
	}).name())
	variables, _ := r.at("Environment", "Variables").(map[string]any)
	for name, value := range variables {
		l.environment[name] = fmt.Sprint(value)
	}
	return l
}

// take returns an environment that is free, or a new one.
func (l *lambda) take() *place {
	l.free <- struct{}{}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy++
	l.most = max(l.most, l.busy)
	if last := len(l.idle) - 1; last >= 0 {
		p := l.idle[last]
		l.idle = l.idle[:last]
		return p
	}
	l.started++
	program := strings.TrimPrefix(l.name, prefixOfFunctions)
	p := &place{id: fmt.Sprintf("%s/%d", l.name, l.started)}
	environment := maps.Clone(l.environment)
	maps.Copy(environment, l.addresses)
	maps.Copy(environment, map[string]string{
		"AWS_REGION": stackRegion, "AWS_ACCESS_KEY_ID": program, "AWS_SECRET_ACCESS_KEY": "local",
		"AWS_SESSION_TOKEN": p.id, // so that each request names its environment
		pushVariable:        l.settings[pushVariable],
	})
	for _, action := range []string{"logs:CreateLogStream", "logs:PutLogEvents"} {
		l.rights.require(l.role, action, arnOf("logs", "log-group:"+l.log+":*"))
	}
	p.function = start(l.T, env.Function(program), environment)
	p.function.limit = l.timeout
	l.doom.born(p)
	return p
}

// leave gives an environment back, or its room if it has ended.
func (l *lambda) leave(p *place, alive bool) {
	l.mu.Lock()
	l.busy--
	if alive {
		l.idle = append(l.idle, p)
	} else {
		l.doom.gone(p)
	}
	l.mu.Unlock()
	<-l.free
}

// call has the function work on a payload. As in Lambda, a program that ends or takes longer than it may is a failure
// of the call, and its environment is not used again.
func (l *lambda) call(payload []byte) outcome {
	p := l.take()
	answered, err := p.offer(payload)
	if err != nil {
		p.kill()
		l.leave(p, false)
		return failed("Runtime.ExitError", err.Error())
	}
	select {
	case o := <-answered:
		l.leave(p, !l.doom.fallen(p))
		return o
	case err := <-p.ended:
		p.ended <- err
		l.leave(p, false)
		return failed("Runtime.ExitError", fmt.Sprintf("signal: %v", err))
	case <-time.After(l.timeout):
		p.kill()
		l.leave(p, false)
		l.Errorf("%s timed out after %s:\n%s", l.name, l.timeout, p.log)
		return failed("Sandbox.Timedout", "Task timed out")
	}
}

func failed(kind, message string) outcome {
	return outcome{failure: &failure{ErrorMessage: message, ErrorType: kind}}
}

// mistake gives a variable another value, in new environments alone.
func (l *lambda) mistake(variable, value string) {
	l.mu.Lock()
	l.environment[variable] = value
	l.mu.Unlock()
	l.restart()
}

// restart ends the environments that are idle, so that the next calls have new ones.
func (l *lambda) restart() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.idle {
		p.kill()
		l.doom.gone(p)
	}
	l.idle = nil
}

// invoke calls what an ARN names. Everything calls a function by its alias, so that a new version takes effect.
func (d *deployed) invoke(arn string, payload []byte) outcome {
	name, alias, _ := strings.Cut(strings.TrimPrefix(arn, arnOf("lambda", "function:")), ":")
	l := d.lambdas[name]
	if l == nil || d.aliases[arn] == "" {
		d.Errorf("a call of %s: no function of the template has the alias %q", arn, alias)
		return failed("ResourceNotFoundException", arn)
	}
	return l.call(payload)
}

// requirePermission fails the test if the template does not let a service call the function.
func (d *deployed) requirePermission(service, arn string) {
	for _, p := range d.stack.all("AWS::Lambda::Permission") {
		if p.text("Principal") == service && p.text("FunctionName") == arn && p.text("Action") == "lambda:InvokeFunction" {
			return
		}
	}
	d.Errorf("%s may not call %s", service, arn)
}

// invokeLater calls a function asynchronously: it repeats a call that fails as the template says, and then puts it into
// the queue of failures. Lambda waits a minute and two between the attempts; here it is a moment.
func (d *deployed) invokeLater(arn string, payload []byte) {
	name, alias, _ := strings.Cut(strings.TrimPrefix(arn, arnOf("lambda", "function:")), ":")
	config := d.stack.one("AWS::Lambda::EventInvokeConfig", map[string]string{"FunctionName": name, "Qualifier": alias})
	d.running.Go(func() {
		var o outcome
		for range 1 + config.number("MaximumRetryAttempts") {
			if o = d.invoke(arn, payload); o.failure == nil {
				return
			}
			d.pause(time.Second)
		}
		queue := config.text("DestinationConfig", "OnFailure", "Destination")
		if queue == "" {
			d.Logf("a call of %s failed, and its failures go nowhere: %+v", arn, *o.failure)
			return
		}
		d.rights.require(d.lambdas[name].role, "sqs:SendMessage", queue)
		d.keep(queue, string(payload))
	})
}
