package stack_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"nexus/infra/stack"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/release"
)

// The stages of cdk.json.
const (
	dev  = "dev"
	prod = "prod"
)

// assembly is the folder into which both stages were synthesized before the first test runs. One stage each was
// synthesized into adjusted, with the settings of a command line, into restored, with a restored table, into mailed,
// whose alarms are sent to an address, and into bare, without a canary.
var assembly, adjusted, restored, mailed, bare string

const operator = "operator@nexus.example"

// spread is the folder with prod in a region of its own, with two replicas.
var spread string

// doors is the folder with prod whose functions have function URLs.
var doors string

// whole is the folder with both stages, each with a domain, an issuer of its own, and a role for a workflow.
var whole string

// edged is the folder with prod behind an edge, in a region of its own, and opened with prod on the way to one.
var edged, opened string

func originSettings() map[string]any {
	out := wholeSettings()
	maps.Copy(out, map[string]any{
		"stage": prod, "region": "eu-central-1", "originDomain": originName, "originCertificate": originARN,
		"allowedOrigins": "https://app.nexus.example", "limits": "user=700",
	})
	return out
}

func edgeSettings() map[string]any {
	out := originSettings()
	maps.Copy(out, map[string]any{"edge": "true", "certificate": edgeARN, "edgeSecret": "3"})
	return out
}

const (
	originName = "o-5f0e2c1b.nexus.example.net"
	originARN  = "arn:aws:acm:eu-central-1:123456789012:certificate/1f1e2a3b-4c5d-6e7f-8091-a2b3c4d5e6f7"
	edgeARN    = "arn:aws:acm:us-east-1:123456789012:certificate/2f1e2a3b-4c5d-6e7f-8091-a2b3c4d5e6f7"
)

const restoredStream = "arn:aws:dynamodb:eu-central-1:123456789012:table/Restored/stream/2026-03-02T09:00:00.000"

// adjustments are those settings.
func adjustments() map[string]any {
	return map[string]any{
		"stage": prod, "issuer": "https://id.nexus.example", "audience": "web,phone", "readScopes": "a", "writeScopes": "b,c",
		"allowedOrigins": "https://app.nexus.example,http://localhost:5173",
		"alarmTopic":     "arn:aws:sns:eu-central-1:123456789012:operators",
		"syncForm":       "3",
		"subjectForm":    "2",
		"rollout":        "once",
		"reserve":        "effects=80,walk=12", "effectsParallel": "6", "projectionsParallel": "2",
		"monthlyBudget":  "200",
		"pushHosts":      "push.example.com,notify.example.net",
		"restoredStream": restoredStream,
	}
}

var deployed = release.Release{Name: "0.3.0", Before: "0.2.0"}

func spreadSettings() map[string]any {
	out := wholeSettings()
	out["stage"], out["region"], out["replicas"] = prod, "eu-central-1", "eu-west-1,eu-north-1"
	return out
}

func wholeSettings() map[string]any {
	return map[string]any{
		"domain": "nexus.example.net", "certificate": certificateARN, "identity": "cognito",
		"callbacks": "https://app.nexus.example/in,http://localhost:5173/in", "repository": "example/nexus",
		"subjectForm": "2", "monthlyBudget": "200", "alarmEmail": operator, "tableClass": "infrequent",
		"backupRegion": "eu-south-1", "backupDays": "14",
	}
}

const certificateARN = "arn:aws:acm:eu-central-1:123456789012:certificate/0e1f2a3b-4c5d-6e7f-8091-a2b3c4d5e6f7"

// credentials are those of the canary, which every stage has but bare.
func credentials() map[string]any {
	return map[string]any{
		"canaryTokenEndpoint": "https://id.nexus.example/oauth2/token", "canaryClient": "canary-of-the-stage",
		"canarySecret": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:nexus-canary-a1B2c3",
	}
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "nexus-infra-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	assembly, adjusted = filepath.Join(folder, "cdk.out"), filepath.Join(folder, "adjusted")
	whole, spread = filepath.Join(folder, "whole"), filepath.Join(folder, "spread")
	restored, mailed = filepath.Join(folder, "restored"), filepath.Join(folder, "mailed")
	bare = filepath.Join(folder, "bare")
	edged, opened = filepath.Join(folder, "edged"), filepath.Join(folder, "opened")
	doors = filepath.Join(folder, "doors")
	code := 1
	if err := errors.Join(
		synthesize(folder, assembly, nil), synthesize(folder, adjusted, adjustments()),
		synthesize(folder, restored, map[string]any{"stage": dev, "restoredStream": restoredStream}),
		synthesize(folder, whole, wholeSettings()), synthesize(folder, spread, spreadSettings()),
		synthesize(folder, edged, edgeSettings()), synthesize(folder, opened, originSettings()),
		synthesize(folder, doors, doorSettings()),
		synthesize(folder, mailed, map[string]any{"stage": prod, "alarmEmail": operator}),
		synthesize(folder, bare, map[string]any{
			"stage": prod, "canaryTokenEndpoint": "", "canaryClient": "", "canarySecret": "",
		}),
	); err != nil {
		fmt.Fprintln(os.Stderr, "synthesize:", err)
	} else {
		code = m.Run()
	}
	jsii.Close()
	if err := os.RemoveAll(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// synthesize does as the CDK's command line, with the context of cdk.json, but neither a topic nor a restored table
// that it may name, and with what is given in addition. The content of the functions' packages plays no part.
func synthesize(folder, out string, more map[string]any) error {
	context, err := configured()
	if err != nil {
		return err
	}
	context["alarmTopic"], context["alarmEmail"], context["restoredStream"] = "", "", ""
	maps.Copy(context, credentials())
	maps.Copy(context, more)
	context["aws:cdk:enable-path-metadata"] = true
	for _, f := range env.Functions() {
		if err := os.WriteFile(filepath.Join(folder, string(f)+".zip"), []byte(f), 0o600); err != nil {
			return err
		}
	}
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(out), Context: &context})
	if err := stack.Add(app, folder, deployed); err != nil {
		return err
	}
	app.Synth(nil)
	return nil
}

// configured is the context of cdk.json.
func configured() (map[string]any, error) {
	text, err := os.ReadFile(filepath.Join("..", "..", "cdk.json"))
	if err != nil {
		return nil, err
	}
	var file struct{ Context map[string]any }
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	return file.Context, nil
}

// template is a synthesized stack.
type template struct {
	*testing.T
	stage     string
	settings  stack.Settings      // as cdk.json has them
	resources map[string]resource // by logical id
	outputs   map[string]any
}

// resource is one resource of a template.
type resource struct {
	template       *template
	id             string
	Type           string
	Properties     map[string]any
	DeletionPolicy string
	DependsOn      any
	UpdatePolicy   map[string]any
	Metadata       map[string]any
}

// read reads the template of a stage.
func read(t *testing.T, stage string) *template {
	t.Helper()
	return readFrom(t, assembly, stage)
}

func readFrom(t *testing.T, folder, stage string) *template {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "nexus-"+stage+".template.json"))
	require.NoError(t, err)
	stage = stage[strings.LastIndex(stage, "-")+1:]
	var file struct {
		Resources map[string]resource
		Outputs   map[string]struct{ Value any }
	}
	require.NoError(t, json.Unmarshal(text, &file))
	context, err := configured()
	require.NoError(t, err)
	settings, err := stack.ReadStage(stage, context["stages"].(map[string]any)[stage].(map[string]any))
	require.NoError(t, err)
	out := &template{T: t, stage: stage, settings: settings, resources: file.Resources, outputs: map[string]any{}}
	for name, output := range file.Outputs {
		out.outputs[name] = output.Value
	}
	for id, r := range out.resources {
		r.template, r.id = out, id
		out.resources[id] = r
	}
	return out
}

// each runs a test on the templates of both stages.
func each(t *testing.T, test func(*template)) {
	t.Helper()
	for _, stage := range []string{dev, prod} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			test(read(t, stage))
		})
	}
}

// all returns the resources of a type, ordered by their paths. There is at least one.
func (t *template) all(typeName string) []resource {
	t.Helper()
	var out []resource
	for _, r := range t.resources {
		if r.Type == typeName {
			out = append(out, r)
		}
	}
	require.NotEmpty(t, out, typeName)
	slices.SortFunc(out, func(a, b resource) int { return strings.Compare(a.path(), b.path()) })
	return out
}

// one returns the only resource of a type.
func (t *template) one(typeName string) resource {
	t.Helper()
	all := t.all(typeName)
	require.Len(t, all, 1, typeName)
	return all[0]
}

// named returns the resource of a construct.
func (t *template) named(construct, typeName string) resource {
	t.Helper()
	for _, r := range t.all(typeName) {
		if path := r.path(); path == construct || path == construct+"/Resource" {
			return r
		}
	}
	require.Fail(t, "no such resource", "%s %s", typeName, construct)
	return resource{}
}

// function returns the function's resource.
func (t *template) function(f env.Function) resource {
	t.Helper()
	return t.named(title(f), "AWS::Lambda::Function")
}

// live returns the alias by which the function is called: its ARN is its reference.
func (t *template) live(f env.Function) resource {
	t.Helper()
	return t.named(title(f)+"Live", "AWS::Lambda::Alias")
}

// liveName spells the name of a function with its alias, as the CDK makes it of the alias' ARN.
func (t *template) liveName(f env.Function) string {
	t.Helper()
	return "part 6 of " + t.live(f).ref() + ":live"
}

// liveQualifier spells the alias, as the CDK makes it of the alias' ARN.
func (t *template) liveQualifier(f env.Function) string {
	t.Helper()
	return "part 7 of " + t.live(f).ref()
}

func title(f env.Function) string { return strings.ToUpper(string(f[:1])) + string(f[1:]) }

// path is the construct's place in the stack.
func (r resource) path() string {
	path, _ := r.Metadata["aws:cdk:path"].(string)
	_, below, _ := strings.Cut(path, "/")
	return below
}

// ref and attribute return references to the resource as text.
func (r resource) ref() string                  { return "${" + r.id + "}" }
func (r resource) attribute(name string) string { return "${" + r.id + "." + name + "}" }

// at returns the value at a path of member names, nil if there is none.
func (r resource) at(names ...string) any {
	var value any = r.Properties
	for _, name := range names {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	return value
}

// text is the text at a path, references in it spelled ${Resource} and ${Resource.Attribute}.
func (r resource) text(names ...string) string { return text(r.at(names...)) }

// text spells a value of a template that is a text.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any:
		if name, ok := v["Ref"].(string); ok {
			return "${" + name + "}"
		}
		if path, ok := v["Fn::GetAtt"].([]any); ok {
			return "${" + path[0].(string) + "." + path[1].(string) + "}"
		}
		if join, ok := v["Fn::Join"].([]any); ok {
			return strings.Join(texts(join[1]), join[0].(string))
		}
		if part, ok := v["Fn::Select"].([]any); ok {
			split := part[1].(map[string]any)["Fn::Split"].([]any)
			return fmt.Sprintf("part %v of %s", part[0], text(split[1]))
		}
		if sub, ok := v["Fn::Sub"].(string); ok {
			return sub
		}
		if name, ok := v["Fn::ImportValue"].(string); ok {
			return "${" + name + "}"
		}
	}
	panic(fmt.Sprintf("no text: %v", value))
}

// texts are the texts of a list; a single one stands for a list of one.
func texts(value any) []string {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var out []string
	for _, member := range list {
		out = append(out, text(member))
	}
	return out
}

// arn is the ARN of something of the stack's account and region.
func arn(service, rest string) string {
	return "arn:${AWS::Partition}:" + service + ":${AWS::Region}:${AWS::AccountId}:" + rest
}
