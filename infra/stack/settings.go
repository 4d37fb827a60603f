package stack

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/api"
	"nexus/pkg/archive"
	"nexus/pkg/changes/token"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/setting"
	"nexus/pkg/limit"
)

// Settings holds the settings of one stage.
type Settings struct {
	// Stage is the stage's name.
	Stage string
	// Protected preserves data resources when the stack goes, prevents the deletion of the stack, and reserves
	// concurrency.
	Protected bool
	// Issuer and Audience describe the tokens that users send: the address of the issuer's keys, and the values one of
	// which must be the token's aud or client_id.
	Issuer   string
	Audience []string
	// ReadScopes and WriteScopes are the scopes one of which a token needs, to read and to change. An authorizer of an
	// HTTP API cannot distinguish an ID token from an access token; only the latter has scopes.
	ReadScopes, WriteScopes []string
	// AllowedOrigins are the origins whose pages may call the API from a browser, each as [api.CheckOrigin] accepts it;
	// empty allows none.
	AllowedOrigins []string
	// RatePerSecond and Burst bound the requests of all users together.
	RatePerSecond, Burst int
	// LogDays is how long logs are retained.
	LogDays int
	// AlarmTopic is the ARN of the topic that alarms are sent to. Instead of it, AlarmEmail has the addresses to which a
	// topic of the stack sends them. Without both, alarms reach no operator: no protected stage is deployed like that.
	AlarmTopic string
	AlarmEmail []string
	// CanaryTokenEndpoint is where the issuer gives tokens for client credentials, CanaryClient the client's id, and
	// CanarySecret the ARN of its secret (AWS Secrets Manager). All three are set, or none: then there is no canary, nor
	// the alarms that need it. No protected stage is deployed like that.
	CanaryTokenEndpoint, CanaryClient, CanarySecret string
	// SyncForm is the form of sync tokens, from 0 to [token.MaxDeployment]. An operator raises it when change logs may
	// lack entries: then every device takes a new snapshot.
	SyncForm int
	// SubjectForm says how user ids are made of tokens, and must not change once there are users. 0 says that it was not
	// set: [api.LiteralSubjects], and the stage is not deployed.
	SubjectForm api.SubjectForm
	// Announce are the events about items that the archive publishes, of [archive.Events]; empty for none.
	Announce []string
	// PushHosts are the suffixes of the hosts of push services that users' devices may name; empty for all.
	PushHosts []string
	// TableClass is the class of the table: "standard" or "infrequent".
	TableClass string
	// Reserve is the concurrency of readers, walk and notify in a protected stage, in place of that of [size.For]; by
	// function, for those that have another.
	Reserve map[string]int
	// EffectsParallel and ProjectionsParallel are the batches of a shard that a reader processes at a time.
	EffectsParallel, ProjectionsParallel int
	// Limits are the limits of each user: those of [limit.Default], with the stage's own in their place.
	Limits limit.Numbers
	// Regions are where the stage is and has replicas.
	Regions
	// Copies are kept in another region.
	Copies
	// Ceilings bound what the stage uses and costs.
	Ceilings
	// Domain is the name by which the API is reached for years, and Certificate the ARN of its certificate, in the stage's
	// region or in that of the edge; both empty for a stage that is reached at the API's own address.
	Domain, Certificate string
	Edge                Edge
	// Door says how users come in: "gateway", or "direct" for function URLs of command and query in addition.
	Door string
	// Identity is "cognito" for a stage whose issuer is a stack of its own, which replaces Issuer and Audience. Callbacks
	// are the addresses to which its sign-in returns. SelfSignUp lets everybody make an account.
	Identity   string
	Callbacks  []string
	SelfSignUp bool
	// Repository is the owner/name of the repository whose workflow deploys the stage; empty for none.
	Repository string
	// Rollout says how command, query and notify get a new version: "canary", or "once" for haste.
	Rollout string
	// RestoredStream is the ARN of the stream of a table that was restored from a backup and replaces the stack's own;
	// empty for none.
	RestoredStream string
}

// Names of the context: in an object for each stage under "stages", or at the top level, which has priority.
const (
	contextStages = "stages"
	contextStage  = "stage"

	issuer       = "issuer"
	audience     = "audience"
	readScopes   = "readScopes"
	writeScopes  = "writeScopes"
	origins      = "allowedOrigins"
	protected    = "protected"
	rate         = "ratePerSecond"
	burst        = "burst"
	logDays      = "logDays"
	alarmTopic   = "alarmTopic"
	alarmEmail   = "alarmEmail"
	canaryToken  = "canaryTokenEndpoint"
	canaryClient = "canaryClient"
	canarySecret = "canarySecret"
	restored     = "restoredStream"
	syncForm     = "syncForm"
	subjectForm  = "subjectForm"
	announce     = "announce"
	pushHosts    = "pushHosts"
	tableClass   = "tableClass"
	reserve      = "reserve"

	effectsParallel     = "effectsParallel"
	projectionsParallel = "projectionsParallel"

	limits  = "limits"
	rollout = "rollout"
)

func settingNames() []string {
	return []string{
		issuer, audience, readScopes, writeScopes, origins, protected, rate, burst, logDays, alarmTopic, alarmEmail,
		canaryToken, canaryClient, canarySecret, restored, syncForm, subjectForm, limits, rollout, domain, certificate,
		announce, pushHosts, tableClass, reserve, effectsParallel, projectionsParallel,
		identity, callbacks, selfSignUp, repository, region, replicas, maxReads, maxWrites, warmWrites, monthlyBudget,
		backupRegion, backupDays, edgeSetting, originDomain, originCertificate, edgeSecret, door,
	}
}

// Read returns the settings of the stages in the context, by name: of the one in the context's "stage", or of all. The
// error names all faults.
func Read(node constructs.Node) ([]Settings, error) {
	stages, ok := node.TryGetContext(jsii.String(contextStages)).(map[string]any)
	if !ok || len(stages) == 0 {
		return nil, fmt.Errorf("context %s: want an object with a member for each stage", contextStages)
	}
	names := slices.Sorted(maps.Keys(stages))
	if only := node.TryGetContext(jsii.String(contextStage)); only != nil {
		name, _ := only.(string)
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("context %s: %v is none of %s", contextStage, only, strings.Join(names, ", "))
		}
		names = []string{name}
	}
	var out []Settings
	var wrong []error
	for _, name := range names {
		values, ok := stages[name].(map[string]any)
		if !ok {
			wrong = append(wrong, fmt.Errorf("context %s: %s is no object", contextStages, name))
			continue
		}
		values = maps.Clone(values)
		for _, setting := range settingNames() {
			if value := node.TryGetContext(jsii.String(setting)); value != nil {
				values[setting] = value
			}
		}
		s, err := ReadStage(name, values)
		out, wrong = append(out, s), append(wrong, err)
	}
	return out, errors.Join(wrong...)
}

var (
	stageForm  = regexp.MustCompile(`^[a-z][a-z0-9]{1,15}$`)
	topicForm  = regexp.MustCompile(`^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$`)
	emailForm  = regexp.MustCompile(`^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+$`)
	secretForm = regexp.MustCompile(
		`^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]{1,519}$`)
	// streamForm contains the table's ARN as a part.
	streamForm = regexp.MustCompile(
		`^(arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/[A-Za-z0-9_.-]{3,255})/stream/[0-9T:.-]+$`)
)

// ReadStage returns the settings of one stage from their values. On the command line they are texts, lists with
// commas.
func ReadStage(name string, values map[string]any) (Settings, error) {
	r := &reader{setting.Reader{Stage: name, Values: values}}
	s := Settings{
		Stage: name, Protected: r.Flag(protected), Issuer: r.Text(issuer), Audience: r.List(audience),
		ReadScopes: r.List(readScopes), WriteScopes: r.List(writeScopes), AllowedOrigins: r.List(origins),
		RatePerSecond: r.Number(rate), Burst: r.Number(burst), LogDays: r.Number(logDays), AlarmTopic: r.Text(alarmTopic),
		AlarmEmail: r.List(alarmEmail), CanaryTokenEndpoint: r.Text(canaryToken), CanaryClient: r.Text(canaryClient),
		CanarySecret: r.Text(canarySecret), RestoredStream: r.Text(restored), SyncForm: r.Number(syncForm),
		Ceilings: r.ceilings(), Regions: r.regions(), Copies: r.copies(), Edge: r.edge(),
		SubjectForm: api.SubjectForm(r.Number(subjectForm)), Rollout: cmp.Or(r.Text(rollout), rolloutCanary),
		Door:   cmp.Or(r.Text(door), doorGateway),
		Domain: r.Text(domain), Certificate: r.Text(certificate), Identity: r.Text(identity),
		Callbacks: r.List(callbacks), SelfSignUp: r.Flag(selfSignUp), Repository: r.Text(repository),
		Announce: r.List(announce), PushHosts: r.List(pushHosts),
		TableClass: cmp.Or(r.Text(tableClass), tableStandard), Reserve: r.Numbers(reserve),
		EffectsParallel:     r.parallel(effectsParallel, env.Effects),
		ProjectionsParallel: r.parallel(projectionsParallel, env.Projections),
	}
	var err error
	s.Limits, err = limit.Default().With(r.Numbers(limits))
	r.Refuse(err != nil, limits, fmt.Sprint(err))
	for setting := range values {
		r.Refuse(!slices.Contains(settingNames(), setting), setting, "is no setting")
	}
	r.Refuse(!stageForm.MatchString(name), "name", "want 2 to 16 of a-z and 0-9, a letter first")
	r.checkDomain(s)
	r.checkEdge(s)
	r.checkIdentity(s)
	r.checkRepository(s)
	address, err := url.Parse(s.Issuer)
	r.Refuse(err != nil || address.Scheme != "https" || address.Host == "", issuer, "want an address with https")
	r.Refuse(len(s.Audience) == 0, audience, "want at least one")
	r.Refuse(strings.ContainsAny(strings.Join(s.Audience, ""), " \t\n"), audience, "want texts without spaces")
	r.Refuse(len(s.ReadScopes) == 0, readScopes, "want at least one")
	r.Refuse(len(s.WriteScopes) == 0, writeScopes, "want at least one")
	for _, origin := range s.AllowedOrigins {
		err := api.CheckOrigin(origin)
		r.Refuse(err != nil, origins, fmt.Sprint(err))
	}
	r.Refuse(s.RatePerSecond < 1, rate, "want a number above 0")
	r.Refuse(s.Burst < s.RatePerSecond, burst, "want at least the rate")
	_, isKept := retentions()[s.LogDays]
	r.Refuse(!isKept, logDays, fmt.Sprintf("want one of %v", slices.Sorted(maps.Keys(retentions()))))
	r.Refuse(s.SyncForm < 0 || s.SyncForm > token.MaxDeployment, syncForm,
		fmt.Sprintf("want a number from 0 to %d", token.MaxDeployment))
	_, isSet := values[subjectForm]
	r.Refuse(isSet && s.SubjectForm != api.LiteralSubjects && s.SubjectForm != api.DigestedSubjects, subjectForm,
		"want 1 for a stage that has users of that form, 2 for a new stage")
	r.Refuse(s.Rollout != rolloutCanary && s.Rollout != rolloutOnce, rollout, "want canary or once")
	r.Refuse(s.TableClass != tableStandard && s.TableClass != tableInfrequent, tableClass, "want standard or infrequent")
	r.Refuse(s.Door != doorGateway && s.Door != doorDirect, door, "want gateway or direct")
	r.Refuse(s.Door == doorDirect && s.Edge.On, door, "want gateway with "+edgeSetting+": a function URL leads round it")
	for name, n := range s.Reserve {
		r.Refuse(!slices.Contains(reservable(), name), reserve, "want some of "+strings.Join(reservable(), ", "))
		r.Refuse(n < 1, reserve, name+": want a number above 0")
	}
	for _, f := range []env.Function{env.Command, env.Query} {
		r.Refuse(s.Protected && s.Door == doorDirect && s.Reserve[string(f)] == 0, reserve,
			"want one of "+string(f)+" with "+door+": requests at its function URL would take what all functions share")
	}
	for _, event := range s.Announce {
		r.Refuse(!slices.Contains(archive.Events(), event), announce, "want some of "+strings.Join(archive.Events(), ", "))
	}
	for _, host := range s.PushHosts {
		r.Refuse(!isDomain(host), pushHosts, "want names of hosts in small letters")
	}
	r.Refuse(s.AlarmTopic != "" && !topicForm.MatchString(s.AlarmTopic), alarmTopic, "want a topic's ARN")
	for _, address := range s.AlarmEmail {
		r.Refuse(!emailForm.MatchString(address), alarmEmail, "want addresses of e-mail")
	}
	r.Refuse(s.AlarmTopic != "" && len(s.AlarmEmail) > 0, alarmEmail, "want it or "+alarmTopic+", not both")
	r.checkCanary(s)
	r.Refuse(s.RestoredStream != "" && !streamForm.MatchString(s.RestoredStream), restored,
		"want the ARN of a table's stream")
	return s, errors.Join(r.Wrong...)
}

// reader reads the settings of a stage, and checks them.
type reader struct{ setting.Reader }
