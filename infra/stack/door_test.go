package stack_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/infra/stack"
	"nexus/pkg/api"
	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
)

const (
	urlType        = "AWS::Lambda::Url"
	permissionType = "AWS::Lambda::Permission"
)

// doorSettings are those of a stage whose functions have function URLs.
func doorSettings() map[string]any {
	return map[string]any{
		"stage": prod, "door": "direct", "allowedOrigins": "https://app.nexus.example", "reserve": "command=200,query=300",
		"issuer": "https://id.nexus.example", "audience": "web,phone",
	}
}

// served are the functions that users reach.
func served() []env.Function { return []env.Function{env.Command, env.Query} }

func TestAddDoors_makesNothingUnlessTheStageSaysSo(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for _, r := range t.resources {
			require.NotEqual(t, urlType, r.Type)
			if r.Type == permissionType {
				require.NotEqual(t, "*", r.text("Principal"), r.path())
			}
		}
		require.Equal(t, map[string]any{env.CommandURL: env.NoURL, env.QueryURL: env.NoURL},
			t.one("AWS::ApiGatewayV2::Stage").at("StageVariables"))
		for name := range t.outputs {
			require.NotContains(t, name, "Url")
		}
	})
}

func TestAddDoors_givesCommandAndQueryAURLOnAnAliasOfItsOwn(t *testing.T) {
	t.Parallel()
	made := readFrom(t, doors, prod)
	require.Len(t, made.all(urlType), len(served()))
	variables := map[string]any{}
	for _, f := range served() {
		alias := made.named(title(f)+"Direct", "AWS::Lambda::Alias")
		require.Equal(t, env.DirectAlias, alias.text("Name"))
		require.Equal(t, made.function(f).ref(), alias.text("FunctionName"))
		require.Equal(t, made.live(f).text("FunctionVersion"), alias.text("FunctionVersion"))

		url := made.named(title(f)+"Door", urlType)
		require.Equal(t, made.function(f).attribute("Arn"), url.text("TargetFunctionArn"))
		require.Equal(t, env.DirectAlias, url.text("Qualifier"))
		require.Equal(t, "NONE", url.text("AuthType"))
		require.Equal(t, "BUFFERED", url.text("InvokeMode"), "the functions answer whole")
		require.Contains(t, texts(url.DependsOn), alias.id, "the alias has to be there")
		require.Equal(t, map[string]any{
			"AllowOrigins": []any{"https://app.nexus.example"}, "AllowCredentials": false, "MaxAge": 7200.0,
			"AllowMethods": anys(api.CORSMethods()), "AllowHeaders": anys(api.CORSRequestHeaders()),
			"ExposeHeaders": anys(api.CORSExposedHeaders()),
		}, url.at("Cors"))
		require.Equal(t, url.attribute("FunctionUrl"), text(made.outputs[title(f)+"Url"]))
		variables[map[env.Function]string{env.Command: env.CommandURL, env.Query: env.QueryURL}[f]] =
			map[string]any{"Fn::GetAtt": []any{url.id, "FunctionUrl"}}
	}
	require.Equal(t, variables, made.one("AWS::ApiGatewayV2::Stage").at("StageVariables"))
}

func anys(texts []string) []any {
	var out []any
	for _, text := range texts {
		out = append(out, text)
	}
	return out
}

// Without the condition the second right would let everybody invoke command in the name of any user.
func TestOpenTo_letsEverybodyCallTheAliasByItsURLAlone(t *testing.T) {
	t.Parallel()
	made := readFrom(t, doors, prod)
	var open []map[string]any
	for _, r := range made.all(permissionType) {
		if r.text("Principal") == "*" {
			open = append(open, r.Properties)
		}
	}
	var want []map[string]any
	for _, f := range served() {
		alias := map[string]any{"Ref": made.named(title(f)+"Direct", "AWS::Lambda::Alias").id}
		want = append(want,
			map[string]any{"Action": "lambda:InvokeFunctionUrl", "Principal": "*", "FunctionName": alias,
				"FunctionUrlAuthType": "NONE"},
			map[string]any{"Action": "lambda:InvokeFunction", "Principal": "*", "FunctionName": alias,
				"InvokedViaFunctionUrl": true})
	}
	require.ElementsMatch(t, want, open)
}

// needsItself returns the path of a resource that CloudFormation could make only after itself; "" if there is none.
// What an update of a resource goes by, such as the deployment group of an alias, has to be there before it, too.
func needsItself(resources map[string]resource) string {
	below := map[string]bool{} // what was visited; true while it is above
	circle := ""
	var visit func(id string)
	visit = func(id string) {
		r, ok := resources[id]
		if !ok {
			return // a pseudo parameter
		}
		if above, seen := below[id]; seen {
			if above {
				circle = r.path()
			}
			return
		}
		below[id] = true
		if r.DependsOn != nil {
			for _, other := range texts(r.DependsOn) {
				visit(other)
			}
		}
		for _, part := range []map[string]any{r.Properties, r.UpdatePolicy} {
			mentions(part, func(_ []string, what string) { visit(what) })
		}
		below[id] = false
	}
	for id := range resources {
		visit(id)
	}
	return circle
}

// A URL is made of its function, so nothing that a function is made of may name the URL.
func TestAddDoors_leadsToNoCircle(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) { require.Empty(t, needsItself(t.resources)) })
	require.Empty(t, needsItself(readFrom(t, doors, prod).resources))
}

func TestAddDoors_areHeldAgainstEachKindOfCircle(t *testing.T) {
	t.Parallel()
	of := func(id string) map[string]any { return map[string]any{"In": []any{map[string]any{"Ref": id}}} }
	for _, c := range []struct {
		b        resource
		isCircle bool
	}{
		{resource{Properties: of("a")}, true}, {resource{UpdatePolicy: of("a")}, true}, {resource{DependsOn: "a"}, true},
		{resource{DependsOn: []any{"c", "a"}}, true}, {resource{Properties: of("c"), UpdatePolicy: of("c")}, false},
	} {
		c.b.Metadata = map[string]any{"aws:cdk:path": "nexus/b"}
		a := resource{Properties: of("b"), Metadata: map[string]any{"aws:cdk:path": "nexus/a"}}
		circle := needsItself(map[string]resource{"a": a, "b": c.b, "c": {}})
		require.Equal(t, c.isCircle, circle != "", "%v: %s", c.b, circle)
	}
}

func TestAddDoors_keepsTheAPIWithAllItsRoutes(t *testing.T) {
	t.Parallel()
	made, usual := readFrom(t, doors, prod), readFrom(t, adjusted, prod)
	keys := func(t *template) []string {
		var out []string
		for _, r := range t.all("AWS::ApiGatewayV2::Route") {
			out = append(out, r.text("RouteKey")+" "+r.text("AuthorizationType"))
		}
		slices.Sort(out)
		return out
	}
	require.Equal(t, keys(usual), keys(made), "it serves everything beside the URLs")
}

func TestDoor_hasItsAlarmsRolloutsAndReserve(t *testing.T) {
	t.Parallel()
	made := readFrom(t, doors, prod)
	var names []string
	for _, a := range made.all(alarmType) {
		names = append(names, a.text("AlarmName"))
	}
	var want []string
	for _, a := range slices.Concat(alarm.Direct(everyAlarm()),
		alarm.Ceilings(made.settings.ReadUnits, made.settings.WriteUnits)) {
		want = append(want, a.Name)
	}
	require.ElementsMatch(t, want, names)
	for f, reserve := range map[env.Function]float64{env.Command: 200, env.Query: 300} {
		require.InDelta(t, reserve, made.function(f).at("ReservedConcurrentExecutions"), 0)
		group := made.named(title(f)+"DirectRollout", groupType)
		update := made.named(title(f)+"Direct", "AWS::Lambda::Alias").UpdatePolicy["CodeDeployLambdaAliasUpdate"]
		require.Equal(t, group.ref(), text(update.(map[string]any)["DeploymentGroupName"]))
		require.Equal(t, watchedBy(made, made.named(title(f)+"Rollout", groupType)), watchedBy(made, group))
	}
	for _, f := range served() {
		require.Equal(t, "https://id.nexus.example", made.function(f).text("Environment", "Variables", env.Issuer))
		require.Equal(t, "web phone", made.function(f).text("Environment", "Variables", env.Audience))
	}
}

func TestReadStage_wantsReservesOfCommandAndQueryWithTheirURLs(t *testing.T) {
	t.Parallel()
	values := settings()
	for _, name := range []string{"edge", "originDomain", "originCertificate", "edgeSecret"} {
		delete(values, name) // a function URL would lead round the edge
	}
	values["certificate"], values["door"], values["reserve"] = certificateARN, "direct", "command=200,query=300"
	s, err := stack.ReadStage("prod", values)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"command": 200, "query": 300}, s.Reserve)
	values["door"] = "gateway"
	_, err = stack.ReadStage("prod", values)
	require.NoError(t, err, "who closes the doors in haste changes nothing else")
	values["door"], values["reserve"] = "direct", "command=200"
	_, err = stack.ReadStage("prod", values)
	require.ErrorContains(t, err, "reserve: want one of query")
}
