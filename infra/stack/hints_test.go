package stack_test

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/access"
	"nexus/pkg/deploy/env"
	"nexus/pkg/push"
)

const (
	eventAPI  = "AWS::AppSync::Api"
	namespace = "AWS::AppSync::ChannelNamespace"
)

// modes are the ways in which clients may prove who they are.
func modes(value any) []string {
	var out []string
	for _, mode := range value.([]any) {
		out = append(out, text(mode.(map[string]any)["AuthType"]))
	}
	return out
}

func TestAddHints_letsRolesPublishAndUsersSubscribe(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		api, channels := t.one(eventAPI), t.one(namespace)
		for _, name := range []string{"ConnectionAuthModes", "DefaultSubscribeAuthModes"} {
			require.Equal(t, []string{"OPENID_CONNECT"}, modes(api.at("EventConfig", name)), name)
		}
		require.Equal(t, []string{"AWS_IAM"}, modes(api.at("EventConfig", "DefaultPublishAuthModes")))
		require.ElementsMatch(t, []string{"AWS_IAM", "OPENID_CONNECT"}, modes(api.at("EventConfig", "AuthProviders")))
		require.Equal(t, api.attribute("ApiId"), channels.text("ApiId"))
		require.Equal(t, push.Namespace, channels.text("Name"))
		require.Equal(t, []string{"AWS_IAM"}, modes(channels.at("PublishAuthModes")))
		require.Equal(t, []string{"OPENID_CONNECT"}, modes(channels.at("SubscribeAuthModes")))
	})
}

func TestAddHints_takesTokensOfTheStagesIssuerAndAudience(t *testing.T) {
	t.Parallel()
	requireProvider := func(t *template, issuer string, audience ...string) {
		for _, one := range t.one(eventAPI).at("EventConfig", "AuthProviders").([]any) {
			provider, _ := one.(map[string]any)["OpenIDConnectConfig"].(map[string]any)
			if provider == nil {
				continue
			}
			require.Equal(t, issuer, text(provider["Issuer"]))
			form := regexp.MustCompile(text(provider["ClientId"]))
			for _, one := range audience {
				require.True(t, form.MatchString(one), "%s: %s", form, one)
				require.False(t, form.MatchString("x"+one), "%s: %s", form, one)
				require.False(t, form.MatchString(one+"x"), "%s: %s", form, one)
			}
			return
		}
		require.Fail(t, "no provider of tokens")
	}
	each(t, func(t *template) { requireProvider(t, t.settings.Issuer, t.settings.Audience...) })
	requireProvider(readFrom(t, adjusted, prod), "https://id.nexus.example", "web", "phone")
}

func TestAddHints_tellsTheFunctionsItsDomains(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		api := t.one(eventAPI)
		for _, f := range []env.Function{env.Command, env.Projections} {
			require.Equal(t, api.attribute("Dns.Http"), t.function(f).text("Environment", "Variables", env.HintsHost), "%s", f)
		}
		require.Equal(t, api.attribute("Dns.Realtime"),
			t.function(env.Command).text("Environment", "Variables", env.HintsRealtimeHost))
		for who, all := range everybodysRights(t) {
			for _, r := range all {
				for _, action := range r.actions {
					if strings.HasPrefix(action, "appsync:") {
						require.Equal(t, "ProjectionsRole/Resource", who)
						require.Equal(t, access.EventPublish, action)
						require.Equal(t, []string{arn("appsync", "apis/"+api.attribute("ApiId")+"/channelNamespace/user")},
							r.resources)
					}
				}
			}
		}
	})
}

// play runs the handler for a subscription to the channel, and reports whether it lets it pass. It replaces the module
// of the service, of which the handler uses one function.
func play(t *testing.T, handler, channel string, claims map[string]any) bool {
	t.Helper()
	require.Contains(t, handler, "import { util } from '@aws-appsync/utils'\n")
	ctx, err := json.Marshal(map[string]any{
		"identity": map[string]any{"sub": claims["sub"], "issuer": "https://id.example.com", "claims": claims},
		"info": map[string]any{
			"channel":          map[string]any{"path": channel, "segments": strings.Split(strings.Trim(channel, "/"), "/")},
			"channelNamespace": map[string]any{"name": "user"}, "operation": "SUBSCRIBE",
		},
	})
	require.NoError(t, err)
	program := "const util = { unauthorized() { throw 'unauthorized' } }\n" +
		strings.Replace(strings.Replace(handler, "import { util } from '@aws-appsync/utils'\n", "", 1), "export ", "", 1) +
		"try { onSubscribe(" + string(ctx) + "); console.log('passes') } catch (e) { console.log(e) }\n"
	command := exec.CommandContext(t.Context(), "node", "-")
	command.Stdin = strings.NewReader(program)
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, []string{"passes\n", "unauthorized\n"}, string(out), "%s", channel)
	return string(out) == "passes\n"
}

func TestHandler_letsAUserSubscribeToItsOwnChannelAlone(t *testing.T) {
	t.Parallel()
	code := read(t, dev).one(namespace).text("CodeHandlers")
	read := func(sub string) map[string]any { return map[string]any{"sub": sub, "scope": "openid nexus/read"} }
	require.True(t, play(t, code, "/user/ann", read("ann")))
	for channel, sub := range map[string]string{
		"/user/bob": "ann", "/user/*": "ann", "/user": "ann", "/user/ann/*": "ann", "/user/ann/x": "ann", "/USER/ann": "ann",
		"/user/ann-2": "ann", "/user/a*": "a*", "/user/ann/b/*": "ann/b/*",
	} {
		require.False(t, play(t, code, channel, read(sub)), "%s by %s", channel, sub)
	}
	require.False(t, play(t, code, "/user/*", read("*")))
}

func TestHandler_asksForAScopeToRead(t *testing.T) {
	t.Parallel()
	code := readFrom(t, adjusted, prod).one(namespace).text("CodeHandlers")
	for scope, want := range map[any]bool{"a": true, "x a": true, "b": false, "aa": false, "": false, nil: false} {
		require.Equal(t, want, play(t, code, "/user/ann", map[string]any{"sub": "ann", "scope": scope}), "%v", scope)
	}
	for scope, want := range map[string]bool{"a": true, "x a": false, "b": false} {
		claims := map[string]any{"sub": "ann", "scp": []any{"y", scope}}
		require.Equal(t, want, play(t, code, "/user/ann", claims), "%v", scope)
	}
}

func TestHandler_isInTheLanguageOfTheService(t *testing.T) {
	t.Parallel()
	// AWS AppSync Events Developer Guide, "Handler overview": at most 32 KB; no try, throw, class, new, this, loop by
	// while, regular expression literal or asynchronous code.
	each(t, func(t *template) {
		code := t.one(namespace).text("CodeHandlers")
		require.LessOrEqual(t, len(code), 32<<10)
		for _, word := range []string{
			"try", "throw", "class", "new", "this", "while", "async", "await", "NAMESPACE", "READ_SCOPES",
		} {
			require.NotRegexp(t, `(?m)^[^/]*\b`+word+`\b`, code)
		}
	})
}
