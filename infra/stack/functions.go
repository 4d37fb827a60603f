package stack

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/api"
	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
	"nexus/pkg/limit"
)

const (
	// asyncRetries and asyncHours are Lambda's maximum for repeating an asynchronous call: within a day a late reminder is
	// still delivered.
	asyncRetries = 2
	asyncHours   = 6
)

// failures returns the queues of the calls that failed each time they were made, of the functions that others call
// asynchronously.
func failures() map[env.Function]string {
	return map[env.Function]string{env.Notify: alarm.NotifyQueue, env.Deliver: alarm.DeliverQueue}
}

// functionName is the function's name in the account. Schedules carry it for years, so it must never change.
func functionName(f env.Function) string { return prefix + string(f) }

// construct is the function's name in the stack.
func construct(f env.Function) string { return strings.ToUpper(string(f[:1])) + string(f[1:]) }

// isTraced reports whether X-Ray samples the function: one for which a user waits, in a stage that is not protected. A
// protected stage would pay for many requests. A function cannot choose its sampling: Lambda takes a request each
// second and a twentieth of the others, some four million a month, at $5 a million (docs/cost.md). The trace ids of the
// log follow the later effects, across the stream and the scheduler, where X-Ray loses the trace.
func (d *deployment) isTraced(f env.Function) bool {
	return !d.settings.Protected && (f == env.Command || f == env.Query)
}

func (d *deployment) addFunction(f env.Function) {
	log := d.log(construct(f)+"Log", logGroupPrefix+functionName(f))
	role := d.role(f, log)
	s := size.For(f)
	props := &awslambda.FunctionProps{
		FunctionName: jsii.String(functionName(f)),
		Description:  jsii.String("Nexus: " + string(f)),
		Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
		Architecture: awslambda.Architecture_ARM_64(),
		Handler:      jsii.String("bootstrap"),
		Code:         awslambda.Code_FromAsset(jsii.String(packageOf(d.packages, f)), nil),
		MemorySize:   jsii.Number(s.MemoryMB),
		Timeout:      awscdk.Duration_Seconds(jsii.Number(s.Timeout.Seconds())),
		// The role is complete: no construct that refers to the function adds to it.
		Role:        role.WithoutPolicyUpdates(nil),
		LogGroup:    log,
		Environment: d.variables(f),
		Tracing:     awslambda.Tracing_DISABLED,
		// The functions log objects. Lambda's own lines for every invocation would repeat its metrics.
		LoggingFormat:         awslambda.LoggingFormat_JSON,
		ApplicationLogLevelV2: awslambda.ApplicationLogLevel_INFO,
		SystemLogLevelV2:      awslambda.SystemLogLevel_WARN,
	}
	if d.isTraced(f) {
		props.Tracing = awslambda.Tracing_ACTIVE
	}
	if reserved := d.settings.reserved(f); d.settings.Protected && reserved > 0 {
		// In other stages the account may have less concurrency than the reserve.
		props.ReservedConcurrentExecutions = jsii.Number(reserved)
	}
	props.CurrentVersionOptions = &awslambda.VersionOptions{RemovalPolicy: awscdk.RemovalPolicy_RETAIN}
	function := awslambda.NewFunction(d.Stack, jsii.String(construct(f)), props)
	alias := d.publish(f, function)
	if queue, ok := failures()[f]; ok {
		alias.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
			RetryAttempts: jsii.Number(asyncRetries), MaxEventAge: awscdk.Duration_Hours(jsii.Number(asyncHours)),
			OnFailure: awslambdadestinations.NewSqsDestination(d.queues[queue]),
		})
	}
	d.functions[f], d.live[f] = function, alias
}

// variables returns the variables that the function reads.
func (d *deployment) variables(f env.Function) *map[string]*string {
	out := map[string]*string{}
	for _, name := range f.Variables() {
		if name == env.Scopes {
			out[name] = jsii.String(strings.Join(d.settings.scopes(sides()[f]), " "))
			continue
		}
		out[name] = d.value(f, name)
	}
	return &out
}

// sides returns the part of the surface that each function for users serves.
func sides() map[env.Function]api.Side {
	return map[env.Function]api.Side{env.Command: api.SideCommands, env.Query: api.SideQueries}
}

func (d *deployment) value(of env.Function, variable string) *string {
	switch variable {
	case env.TableName:
		return d.table.TableName()
	case env.ArchiveBucket:
		return d.archive.BucketName()
	case env.ParkingBucket:
		return d.parking.BucketName()
	case env.SnapshotBucket:
		return d.snapshots.BucketName()
	case env.BusName:
		return d.bus.EventBusName()
	case env.HintsHost:
		return d.hints.AttrDnsHttp()
	case env.HintsRealtimeHost:
		return d.hints.AttrDnsRealtime()
	case env.ScheduleGroup:
		return d.group.Ref()
	case env.ScheduleTargetARN:
		// By its name: notify and deliver read their own, to which they cannot refer.
		if of == env.Deliver {
			return jsii.String(d.liveARN(env.Deliver))
		}
		return jsii.String(d.liveARN(env.Notify))
	case env.ScheduleRoleARN:
		return d.caller.RoleArn()
	case env.ScheduleDeadLetterARN:
		return d.queues[alarm.ScheduleQueue].QueueArn()
	case env.WalkQueueURL:
		return d.queues[alarm.WalkQueue].QueueUrl()
	case env.Announce:
		return jsii.String(cmp.Or(strings.Join(d.settings.Announce, ","), env.AnnounceNone))
	case env.SyncForm:
		return jsii.String(strconv.Itoa(d.settings.SyncForm))
	case env.FeedOrigin:
		return jsii.String(d.origin())
	case env.EdgeSecrets:
		return jsii.String(d.settings.Edge.secrets())
	case env.Issuer:
		return jsii.String(d.settings.Issuer)
	case env.Audience:
		return jsii.String(strings.Join(d.settings.Audience, " "))
	case env.SubjectForm:
		return jsii.String(strconv.Itoa(int(d.settings.subjects())))
	case env.Pepper:
		// Its version is in the reference: CloudFormation reads the value at the deployment, and the template has none.
		return awscdk.NewCfnDynamicReference(awscdk.CfnDynamicReferenceService_SSM,
			jsii.String(env.PepperParameter+":"+env.PepperVersion)).ToString()
	case env.PushKey:
		return awscdk.NewCfnDynamicReference(awscdk.CfnDynamicReferenceService_SSM,
			jsii.String(env.PushPublicParameter+":"+env.PushPublicVersion)).ToString()
	case env.PushKeyParameter:
		return jsii.String(env.PushSecretParameter)
	case env.HookKeyParameter:
		return jsii.String(env.HookSecretParameter)
	case env.DeliverARN:
		return jsii.String(d.liveARN(env.Deliver))
	case env.PushHosts:
		return jsii.String(cmp.Or(strings.Join(d.settings.PushHosts, ","), env.PushHostsAny))
	case env.Limits:
		return jsii.String(limit.Format(d.settings.Limits))
	}
	return d.canaryValue(variable)
}
