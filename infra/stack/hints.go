package stack

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsappsync"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/push"
)

// How a client of the event API proves who it is (AWS AppSync API Reference, AuthMode).
const (
	byIssuer = "OPENID_CONNECT"
	byRole   = "AWS_IAM"
)

// subscribe is the handler of subscriptions, in the language of AWS AppSync (APPSYNC_JS).
//
//go:embed subscribe.js
var subscribe string

// addHints makes the event API through which open apps get live hints. Only roles of this account publish. A user
// subscribes with a token of the stage's issuer: the handler compares the whole channel with the user's own. The
// namespace names its modes itself, so that no default of the API lets users publish.
func (d *deployment) addHints() {
	mode := func(kind string) *awsappsync.CfnApi_AuthModeProperty {
		return &awsappsync.CfnApi_AuthModeProperty{AuthType: jsii.String(kind)}
	}
	d.hints = awsappsync.NewCfnApi(d.Stack, jsii.String("Hints"), &awsappsync.CfnApiProps{
		Name: jsii.String(prefix + d.settings.Stage),
		EventConfig: &awsappsync.CfnApi_EventConfigProperty{
			AuthProviders: &[]any{
				&awsappsync.CfnApi_AuthProviderProperty{
					AuthType: jsii.String(byIssuer),
					OpenIdConnectConfig: &awsappsync.CfnApi_OpenIDConnectConfigProperty{
						Issuer: jsii.String(d.settings.Issuer), ClientId: jsii.String(anyOf(d.settings.Audience)),
					},
				},
				&awsappsync.CfnApi_AuthProviderProperty{AuthType: jsii.String(byRole)},
			},
			ConnectionAuthModes:       &[]any{mode(byIssuer)},
			DefaultPublishAuthModes:   &[]any{mode(byRole)},
			DefaultSubscribeAuthModes: &[]any{mode(byIssuer)},
		},
	})
	awsappsync.NewCfnChannelNamespace(d.Stack, jsii.String("HintsOfUsers"), &awsappsync.CfnChannelNamespaceProps{
		ApiId: d.hints.AttrApiId(), Name: jsii.String(push.Namespace), CodeHandlers: jsii.String(handler(d.settings)),
		PublishAuthModes: &[]any{
			&awsappsync.CfnChannelNamespace_AuthModeProperty{AuthType: jsii.String(byRole)},
		},
		SubscribeAuthModes: &[]any{
			&awsappsync.CfnChannelNamespace_AuthModeProperty{AuthType: jsii.String(byIssuer)},
		},
	})
}

// anyOf returns a pattern that matches each of the texts whole: the API takes its clients' id as a regular expression.
func anyOf(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = text
		if !*awscdk.Token_IsUnresolved(text) { // what another stack tells is the id of a client: letters and digits
			quoted[i] = regexp.QuoteMeta(text)
		}
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}

// handler returns the handler of subscriptions with the stage's scopes to read.
func handler(s Settings) string {
	scopes, err := json.Marshal(s.ReadScopes)
	if err != nil {
		panic(fmt.Sprintf("stack: scopes: %v", err)) // only texts
	}
	return strings.NewReplacer("NAMESPACE", push.Namespace, "READ_SCOPES", string(scopes)).Replace(subscribe)
}
