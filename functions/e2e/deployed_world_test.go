package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/deploy/env"
	"nexus/pkg/local/engine/enginetest"
)

// deployed is a stack that runs on this machine: all of its functions, wired by the template alone.
type deployed struct {
	*fixture
	stack     *stack
	rights    *rights
	doom      *fates
	engine    string // where the engine is, past everything that judges or fails
	tableName string
	transport http.RoundTripper
	addresses map[string]string // of the services, as variables
	lambdas   map[string]*lambda
	aliases   map[string]string // by ARN
	routes    []stackResource
	phone     *browser // the device of one user
	mappings  []*mapping

	running  sync.WaitGroup
	ended    chan struct{}
	busy     atomic.Int64 // records and messages under way
	called   atomic.Int64 // schedules
	lastWork atomic.Int64 // when something last happened

	mu      sync.Mutex
	waiting []*queued
	kept    map[string][]string // messages of queues that nothing reads, by ARN
	swept   map[string]bool     // rows that the TTL service has removed
}

// deploy starts everything that the template has.
func deploy(t *testing.T, template string, seed uint64) *deployed {
	t.Helper()
	w := setup(t)
	d := &deployed{
		fixture: w, engine: enginetest.Start(t), tableName: w.settings[env.TableName], transport: streamTransport(),
		doom: newFates(seed), lambdas: map[string]*lambda{}, aliases: map[string]string{}, addresses: map[string]string{},
		ended: make(chan struct{}), kept: map[string][]string{}, swept: map[string]bool{},
	}
	d.stack = readStack(t, template, d.tableName)
	d.rights = newRights(d.stack)
	w.services.taken, w.services.announced = d.enqueue, d.announce
	w.services.later = d.invokeLater
	d.phone = w.browser()
	d.serve("DYNAMODB", dynamoDB(), wiretest.Forward(t, d.engine, nil))
	for name, service := range map[string]wiretest.Service{
		"S3": wiretest.S3(), "SCHEDULER": wiretest.Scheduler(), "EVENTBRIDGE": wiretest.EventBridge(),
		"APPSYNC": wiretest.AppSync(), "SQS": wiretest.SQS(), "SSM": wiretest.SSM(),
		"LAMBDA": wiretest.Lambda(),
	} {
		d.serve(name, service, w.services)
	}
	for _, r := range d.stack.all("AWS::Lambda::Function") {
		d.lambdas[r.name()] = d.newLambda(r, d.stack)
	}
	for _, r := range d.stack.all("AWS::Lambda::Alias") {
		d.aliases[d.stack.attribute(r.id, "Arn").(string)] = r.text("Name")
	}
	d.routes = d.stack.all("AWS::ApiGatewayV2::Route")
	for _, r := range d.stack.all("AWS::Lambda::EventSourceMapping") {
		if strings.HasPrefix(r.text("EventSourceArn"), arnOf("sqs", "")) {
			d.readQueue(r)
			continue
		}
		m := d.newMapping(r)
		d.mappings = append(d.mappings, m)
		d.running.Go(m.run)
	}
	d.running.Go(d.schedule)
	return d
}

// serve starts a service: a guard that judges each request, faults and kills, and the service itself.
func (d *deployed) serve(variable string, service wiretest.Service, behind http.Handler) {
	d.Helper()
	guard := wiretest.NewGuard(d.T, d.doom.before(d, service, behind), service).Also(d.overstepped)
	server := httptest.NewServer(guard)
	d.Cleanup(server.Close)
	d.addresses["AWS_ENDPOINT_URL_"+variable] = server.URL
}

// stop ends everything that works, and the programs after it.
func (d *deployed) stop() {
	close(d.ended)
	d.running.Wait()
	for _, l := range d.lambdas {
		l.restart()
	}
}

func (d *deployed) over() bool {
	select {
	case <-d.ended:
		return true
	default:
		return false
	}
}

// pause waits, at most until the run ends.
func (d *deployed) pause(long time.Duration) {
	select {
	case <-time.After(long):
	case <-d.ended:
	}
}

// work notes that so many records or messages came, or are done.
func (d *deployed) work(n int) {
	if n != 0 {
		d.busy.Add(int64(n))
		d.lastWork.Store(time.Now().UnixNano())
	}
}

// quiet is how long nothing has to happen until nothing more is expected: readers have read several times.
const quiet = 15 * betweenReads

// awaitQuiet waits until everything that was written has been followed.
func (d *deployed) awaitQuiet() {
	d.Helper()
	d.lastWork.Store(time.Now().UnixNano())
	d.await("nothing is under way", func() bool {
		return d.busy.Load() == 0 && time.Since(time.Unix(0, d.lastWork.Load())) > quiet
	})
}

// await waits until something holds.
func (d *deployed) await(what string, holds func() bool) {
	d.Helper()
	for began := time.Now(); !holds(); d.pause(betweenReads) {
		require.Less(d, time.Since(began), 3*time.Minute, "it does not come that %s; under way: %d", what, d.busy.Load())
	}
}

// sweep removes a row as the TTL service does.
func (d *deployed) sweep(pk, sk string) {
	d.Helper()
	d.mu.Lock()
	d.swept[pk+" "+sk] = true
	d.mu.Unlock()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	out, err := enginetest.Client(d.engine).DeleteItem(d.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String(d.tableName), Key: map[string]types.AttributeValue{"PK": text(pk), "SK": text(sk)},
		ReturnValues: types.ReturnValueAllOld,
	})
	require.NoError(d, err)
	require.Contains(d, out.Attributes, "ttl", "%s %s", pk, sk)
}

// isSwept reports whether a removal is the TTL service's.
func (d *deployed) isSwept(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.swept[key]
}
