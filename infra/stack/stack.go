package stack

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsappsync"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/release"
)

// prefix begins the explicit names of resources. Only a resource that a call, a right or the manual names has one;
// CloudFormation names all others.
const prefix = "nexus-"

// deployment is a stack under construction. Its parts are made in the order of the fields.
type deployment struct {
	awscdk.Stack
	settings Settings
	packages string // folder of the functions' zip files
	release  release.Release

	table     awsdynamodb.ITableV2
	archive   awss3.Bucket
	parking   awss3.Bucket
	snapshots awss3.Bucket
	bus       awsevents.EventBus
	group     awsscheduler.CfnScheduleGroup
	queues    map[string]awssqs.Queue // by their names in pkg/deploy/alarm
	caller    awsiam.Role             // that of the scheduler
	hints     awsappsync.CfnApi
	functions map[env.Function]awslambda.Function
	live      map[env.Function]awslambda.Alias // by which everything calls the functions
	direct    map[env.Function]awslambda.Alias // by which their function URLs call them
	urls      map[env.Function]awslambda.CfnUrl
	mappings  map[string]awslambda.EventSourceMapping // by their functions' names
	api       string                                  // id of the HTTP API
	alarms    []awscloudwatch.Alarm
	// alarmTopic is the ARN of the topic that operators read; nil for none.
	alarmTopic *string
}

// Add adds the stacks of the stages in the app's context, and the rules that check them. The release is that of the
// tree.
func Add(app awscdk.App, packages string, of release.Release) error {
	stages, err := Read(app.Node())
	if err != nil {
		return err
	}
	for _, s := range stages {
		addDeployer(app, s)
		addCopiesStack(app, s)
		addEdge(app, s)
		if _, err := New(app, addIdentity(app, s), packages, of); err != nil {
			return err
		}
	}
	check(app)
	return nil
}

// New adds the stack of one stage to an app. Packages is the folder that holds <function>.zip for each function; the
// error names one that is missing.
func New(scope constructs.Construct, s Settings, packages string, of release.Release) (awscdk.Stack, error) {
	for _, f := range s.deployed() {
		if _, err := os.Stat(packageOf(packages, f)); err != nil {
			return nil, fmt.Errorf("package of function %s (make package): %w", f, err)
		}
	}
	d := &deployment{
		Stack: awscdk.NewStack(scope, jsii.String(prefix+s.Stage), &awscdk.StackProps{
			Env:                   s.environment(),
			StackName:             jsii.String(prefix + s.Stage),
			Description:           jsii.String("Nexus: calendar, tasks, reminders, notes, values and daily plans on one table"),
			TerminationProtection: jsii.Bool(s.Protected),
			AnalyticsReporting:    jsii.Bool(false),
		}),
		settings: s, packages: packages, release: of,
		queues: map[string]awssqs.Queue{}, functions: map[env.Function]awslambda.Function{},
		live:   map[env.Function]awslambda.Alias{},
		direct: map[env.Function]awslambda.Alias{}, urls: map[env.Function]awslambda.CfnUrl{},
		mappings: map[string]awslambda.EventSourceMapping{},
	}
	d.tag()
	d.addTable()
	d.addStorage()
	d.addCopies()
	d.addReminding()
	d.addHints()
	d.makeAPI()
	for _, f := range s.deployed() {
		d.addFunction(f)
	}
	d.addReaders()
	d.addWalking()
	d.addDelivering()
	d.addAccounts()
	d.addDoors()
	d.addAPI()
	d.addCanary()
	d.addTenants()
	d.addAlarms()
	d.addBudget()
	d.addRollouts()
	d.addDashboard()
	d.addOutputs()
	if s.isExample() {
		awscdk.Annotations_Of(d.Stack).AddWarningV2(jsii.String("nexus:issuer"),
			jsii.String("the issuer of stage "+s.Stage+
				" is an example: set it in cdk.json, or with -c issuer=https://… -c audience=…"))
	}
	if s.Protected && s.Domain == "" {
		awscdk.Annotations_Of(d.Stack).AddWarningV2(jsii.String("nexus:domain"), jsii.String("stage "+s.Stage+
			" has no domain: clients and calendar feeds would keep the address of an API that a deployment can replace"))
	}
	if s.Protected && s.BackupRegion == "" {
		awscdk.Annotations_Of(d.Stack).AddWarningV2(jsii.String("nexus:copies"), jsii.String("stage "+s.Stage+
			" has no copies in another region, and the loss of its own would end it: set "+backupRegion))
	}
	if s.isSilent() {
		awscdk.Annotations_Of(d.Stack).AddWarningV2(jsii.String("nexus:alarms"),
			jsii.String("alarms of stage "+s.Stage+" reach no operator: set alarmEmail, or alarmTopic to a topic's ARN"))
	}
	if s.Protected && s.CanaryClient == "" {
		awscdk.Annotations_Of(d.Stack).AddWarningV2(jsii.String("nexus:canary"),
			jsii.String("stage "+s.Stage+" has no canary, without which a reader that is dead makes no alarm ring: set "+
				canaryToken+", "+canaryClient+" and "+canarySecret))
	}
	if s.SubjectForm == 0 {
		awscdk.Annotations_Of(d.Stack).AddWarningV2(jsii.String("nexus:subjectForm"),
			jsii.String("subjectForm of stage "+s.Stage+
				" is not set: set it to 2 for a new stage, or to 1 for a stage that has users, who would lose their accounts"))
	}
	return d.Stack, nil
}

func packageOf(folder string, f env.Function) string { return filepath.Join(folder, string(f)+".zip") }

// tag adds the stage's tags to everything, as the source document wants it on the table.
func (d *deployment) tag() {
	tags := awscdk.Tags_Of(d.Stack)
	for _, tag := range d.settings.tags() {
		tags.Add(jsii.String(tag[0]), jsii.String(tag[1]), nil)
	}
}

// tags returns the application, the environment and the stage.
func (s Settings) tags() [][2]string {
	environment := "Development"
	if s.Protected {
		environment = "Production"
	}
	return [][2]string{{"Application", "Nexus"}, {"Environment", environment}, {"Stage", s.Stage}}
}

// removalPolicy returns the removal policy of a data resource. A resource of a failed first deployment is deleted: its
// name would block the second.
func (d *deployment) removalPolicy() awscdk.RemovalPolicy {
	if d.settings.Protected {
		return awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
	}
	return awscdk.RemovalPolicy_DESTROY
}

// arn returns the ARN of a resource of this account and region by its name, for a resource to which a reference would
// be circular.
func (d *deployment) arn(service, resource, name string, format awscdk.ArnFormat) string {
	return *d.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String(service), Resource: jsii.String(resource), ResourceName: jsii.String(name), ArnFormat: format,
	})
}
