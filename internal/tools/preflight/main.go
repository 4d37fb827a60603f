// Command preflight asks, before a deployment, what the deployment takes for granted: make preflight. It exits with 1
// and names what does not hold. It changes nothing.
package main

import (
	"context"
	"flag"
	"net/http"
	"os"
	"time"

	"nexus/internal/tools/stacks"
)

// patience bounds the whole run.
const patience = time.Minute

func main() {
	stage := flag.String("stage", "dev", "the `name` of the stage, a member of stages in cdk.json")
	flag.Parse()
	stacks.Main("preflight", patience, func(ctx context.Context) error {
		settings, err := readSettings("cdk.json", *stage, flag.Args())
		if err != nil {
			return err
		}
		f := flight{
			stage: *stage, settings: settings, changelog: "CHANGELOG.md", client: http.DefaultClient,
			stacks: &stacks.Reader{Run: stacks.Run},
		}
		return f.check(ctx, os.Stdout)
	})
}
