// Command indexes refuses a deployment that changes more than one index of a table: make diff. DynamoDB makes or
// removes one index at a time (AWS CloudFormation Template Reference, AWS::DynamoDB::GlobalTable), and a deployment of
// two fails halfway. It exits with 1 and names them. It changes nothing.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nexus/internal/tools/stacks"
)

// patience bounds the whole run.
const patience = time.Minute

func main() {
	stage := flag.String("stage", "dev", "the `name` of the stage, a member of stages in cdk.json")
	flag.Parse()
	stacks.Main("indexes", patience, func(ctx context.Context) error {
		return run(ctx, &stacks.Reader{Run: stacks.Run}, "cdk.out", "nexus-"+*stage)
	})
}

// run compares the template of the stack that was synthesized into the folder with the deployed one.
func run(ctx context.Context, reader *stacks.Reader, folder, stack string) error {
	wanted, err := os.ReadFile(filepath.Join(folder, stack+".template.json"))
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	deployed, err := reader.Call(ctx, "cloudformation", "get-template", "--stack-name", stack, "--query", "TemplateBody",
		"--output", "json")
	if err != nil && strings.Contains(err.Error(), "does not exist") {
		return nil // the first deployment makes the table with all its indexes
	}
	if err != nil {
		return fmt.Errorf("deployed template: %w", err)
	}
	return check(deployed, wanted)
}

// check compares two templates in JSON.
func check(deployed, wanted []byte) error {
	before, err := tables(deployed)
	if err != nil {
		return fmt.Errorf("deployed template: %w", err)
	}
	after, err := tables(wanted)
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	for id, indexes := range after {
		former, isThere := before[id]
		if !isThere {
			continue // a new table may have any number
		}
		var changes []string
		for name, shape := range indexes {
			if former[name] != shape {
				changes = append(changes, name)
			}
		}
		for name := range former {
			if _, stays := indexes[name]; !stays {
				changes = append(changes, name)
			}
		}
		if len(changes) > 1 {
			return fmt.Errorf("table %s: %d indexes change, %s: deploy them one by one (docs/extending.md)", id, len(changes),
				strings.Join(changes, ", "))
		}
	}
	return nil
}

// tables returns the indexes of each table by its logical id: by name, what cannot change without a new index.
func tables(template []byte) (map[string]map[string]string, error) {
	var of struct {
		Resources map[string]struct {
			Type       string
			Properties struct {
				GlobalSecondaryIndexes []struct {
					IndexName             string
					KeySchema, Projection any
				}
			}
		}
	}
	if err := json.Unmarshal(template, &of); err != nil {
		return nil, err
	}
	out := map[string]map[string]string{}
	for id, r := range of.Resources {
		if r.Type != "AWS::DynamoDB::GlobalTable" {
			continue
		}
		out[id] = map[string]string{}
		for _, index := range r.Properties.GlobalSecondaryIndexes {
			out[id][index.IndexName] = fmt.Sprint(index.KeySchema, index.Projection)
		}
	}
	return out, nil
}
