// The infra program describes a deployment of Nexus to the AWS CDK: one stack for each stage, checked against the
// rules of AWS Solutions. The CDK's command line runs it (cdk.json); `make synth` does, and needs no account.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"nexus/infra/stack"
	"nexus/pkg/deploy/release"
)

// packages is the folder in which `make package` puts the functions, relative to cdk.json.
var packages = filepath.Join("dist", "functions")

// changelog names the releases. It lies beside cdk.json.
const changelog = "CHANGELOG.md"

func add(app awscdk.App) error {
	text, err := os.ReadFile(changelog)
	if err != nil {
		return fmt.Errorf("releases: %w", err)
	}
	names, err := release.Read(string(text))
	if err != nil {
		return err
	}
	return stack.Add(app, packages, release.Newest(names))
}

func main() {
	app := awscdk.NewApp(nil)
	err := add(app)
	if err == nil {
		app.Synth(nil)
	}
	jsii.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}
