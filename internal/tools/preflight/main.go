// Command preflight asks, before a deployment, what the deployment takes for granted: make preflight. It exits with 1
// and names what does not hold. It changes nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"nexus/internal/tools/stacks"
)

// patience bounds the whole run.
const patience = time.Minute

func main() {
	stage := flag.String("stage", "dev", "the `name` of the stage, a member of stages in cdk.json")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, patience)
	settings, err := readSettings("cdk.json", *stage, flag.Args())
	if err == nil {
		f := flight{
			stage: *stage, settings: settings, changelog: "CHANGELOG.md", client: http.DefaultClient,
			stacks: &stacks.Reader{Run: stacks.Run},
		}
		err = f.check(ctx, os.Stdout)
	}
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "preflight:", err)
		os.Exit(1)
	}
}
