// Command preflight asks, before a deployment, what the deployment takes for granted: make preflight. It exits with 1
// and names what does not hold. It changes nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"nexus/internal/cost"
	"nexus/internal/tools/stacks"
)

// patience bounds the whole run.
const patience = 2 * time.Minute

// replayed is the part of the load's users whose month is replayed, 3 of 10,000: more hardly change the counts.
const replayed = 0.0003

func main() {
	stage := flag.String("stage", "dev", "the `name` of the stage, a member of stages in cdk.json")
	flag.Parse()
	stacks.Main("preflight", patience, func(ctx context.Context) error {
		settings, err := readSettings("cdk.json", *stage, flag.Args())
		if err != nil {
			return err
		}
		if region := settings.Text("region"); region != "" { // that of the stage, wherever the operator is
			if err := os.Setenv("AWS_REGION", region); err != nil {
				return fmt.Errorf("region %s: %w", region, err)
			}
		}
		f := flight{
			stage: *stage, settings: settings, changelog: "CHANGELOG.md", client: http.DefaultClient,
			stacks: &stacks.Reader{Run: stacks.Run}, month: replay,
		}
		return f.check(ctx, os.Stdout)
	})
}

// replay replays the month of a few users.
func replay(ctx context.Context) (*cost.Month, error) {
	return cost.Replay(ctx, cost.Options{
		Load: cost.DocumentLoad(), Model: cost.DefaultModel(), Scale: replayed, Seed: 1,
	})
}
