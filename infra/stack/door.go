package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/api"
	"nexus/pkg/deploy/env"
)

// door is the setting that says by which doors users come in.
const door = "door"

// Values of the setting door.
const (
	// doorGateway lets the HTTP API serve every request.
	doorGateway = "gateway"
	// doorDirect gives command and query addresses of their own beside it, which clients may use.
	doorDirect = "direct"
)

// addDoors gives command and query a function URL each, on an alias of its own: deleting that closes it, and touches
// nothing that comes through the API. Without the setting there is neither.
func (d *deployment) addDoors() {
	if d.settings.Door != doorDirect {
		return
	}
	for _, f := range []env.Function{env.Command, env.Query} {
		alias := awslambda.NewAlias(d.Stack, jsii.String(construct(f)+"Direct"), &awslambda.AliasProps{
			AliasName: jsii.String(env.DirectAlias), Version: d.functions[f].CurrentVersion(),
			Description: jsii.String("Nexus: the version of " + string(f) + " that its function URL calls"),
		})
		made := awslambda.NewCfnUrl(d.Stack, jsii.String(construct(f)+"Door"), &awslambda.CfnUrlProps{
			TargetFunctionArn: d.functions[f].FunctionArn(), Qualifier: jsii.String(env.DirectAlias),
			AuthType: jsii.String(open), InvokeMode: jsii.String("BUFFERED"), Cors: d.urlCors(),
		})
		made.Node().AddDependency(alias)
		d.openTo(f, alias)
		d.direct[f], d.urls[f] = alias, made
		d.output(construct(f)+"Url", "Where function "+string(f)+" answers without the HTTP API", made.AttrFunctionUrl())
	}
}

// openTo lets everybody call the alias by its function URL, and in no other way: an invocation of command by Lambda's
// API names the user by itself. Both rights are needed (AWS Lambda Developer Guide, "Control access to Lambda function
// URLs").
func (d *deployment) openTo(f env.Function, alias awslambda.Alias) {
	everybody := jsii.String("*")
	awslambda.NewCfnPermission(d.Stack, jsii.String(construct(f)+"UrlRequests"), &awslambda.CfnPermissionProps{
		Action: jsii.String("lambda:InvokeFunctionUrl"), FunctionName: alias.FunctionArn(), Principal: everybody,
		FunctionUrlAuthType: jsii.String(open),
	})
	awslambda.NewCfnPermission(d.Stack, jsii.String(construct(f)+"UrlCalls"), &awslambda.CfnPermissionProps{
		Action: jsii.String("lambda:InvokeFunction"), FunctionName: alias.FunctionArn(), Principal: everybody,
		InvokedViaFunctionUrl: jsii.Bool(true),
	})
}

// urlCors returns for a function URL what [deployment.cors] returns for the API. Lambda answers preflights by itself.
func (d *deployment) urlCors() *awslambda.CfnUrl_CorsProperty {
	if len(d.settings.AllowedOrigins) == 0 {
		return nil
	}
	return &awslambda.CfnUrl_CorsProperty{
		AllowOrigins: jsii.Strings(d.settings.AllowedOrigins...), AllowMethods: jsii.Strings(api.CORSMethods()...),
		AllowHeaders: jsii.Strings(api.CORSRequestHeaders()...), ExposeHeaders: jsii.Strings(api.CORSExposedHeaders()...),
		MaxAge: jsii.Number(api.CORSMaxAge.Seconds()), AllowCredentials: jsii.Bool(false),
	}
}

// addresses returns the variables by which the API tells its functions the function URLs. The API's stage is made after
// the functions, whose own variables can therefore not name what is made of them. Without function URLs they say so: a
// variable that an update leaves out, API Gateway leaves as it is.
func (d *deployment) addresses() map[string]*string {
	out := map[string]*string{}
	for f, name := range map[env.Function]string{env.Command: env.CommandURL, env.Query: env.QueryURL} {
		out[name] = jsii.String(env.NoURL)
		if url, ok := d.urls[f]; ok {
			out[name] = url.AttrFunctionUrl()
		}
	}
	return out
}
