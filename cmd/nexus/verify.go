package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/limit"
	"nexus/pkg/local"
	"nexus/pkg/mask"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/verify"
)

// verifyCommand is nexus verify.
type verifyCommand struct {
	Dev      string        `placeholder:"URL" xor:"where" help:"${verify_dev}"`
	Endpoint string        `placeholder:"URL" xor:"where" help:"${verify_endpoint}"`
	Table    string        `default:"ProductivityData" help:"The table's name, with --endpoint (${default})."`
	User     string        `placeholder:"USER" help:"One user; all if not given."`
	Repair   bool          `help:"Repair what differs, beside the running system. This is also the rebuild."`
	Grace    time.Duration `default:"5s" help:"${verify_grace} (${default})."`

	Bucket             string `placeholder:"NAME" env:"ARCHIVE_BUCKET" help:"${verify_bucket}"`
	ScheduleGroup      string `placeholder:"NAME" env:"SCHEDULE_GROUP" and:"reminding" help:"${verify_group}"`
	ScheduleTarget     string `placeholder:"ARN" env:"SCHEDULE_TARGET_ARN" and:"reminding" help:"${verify_target}"`
	ScheduleRole       string `placeholder:"ARN" env:"SCHEDULE_ROLE_ARN" and:"reminding" help:"${verify_role}"`
	ScheduleDeadLetter string `placeholder:"ARN" env:"SCHEDULE_DEAD_LETTER_ARN" and:"reminding" help:"${verify_letters}"`
	Bus                string `placeholder:"NAME" env:"BUS_NAME" and:"reminding" help:"${verify_bus}"`
	Deliver            string `placeholder:"ARN" env:"DELIVER_ARN" help:"${verify_deliver}"`
	Pepper             string `placeholder:"HEX" env:"PEPPER" help:"${verify_pepper}"`
	Limits             string `placeholder:"LIST" env:"LIMITS" help:"${verify_limits}"`

	JSON bool `name:"json" help:"Write a line of JSON for each difference, and the summary as the last."`
}

// Help describes what the command does not check.
func (*verifyCommand) Help() string {
	return examples("Recounts what is derived from the items, and names every difference: statistics, ledger, links, "+
		"timers, ends and cold copies. "+
		"It also names exceptions without their series, kept rows that no item names, items beside a GONE row of theirs, "+
		"rows of snapshots that were never committed, walks that stand still, and rows that belong to no item. "+
		"With --endpoint, schedules, deliveries and what devices and webhooks are still to be told are checked if the "+
		"settings of the effects function are given, and the contents of copies if the bucket is: as flags, or in the "+
		"environment under the names of that function. "+
		"Exits with 1 if differences remain.",
		"nexus verify --dev http://127.0.0.1:8080",
		"nexus verify --endpoint https://dynamodb.us-east-1.amazonaws.com --user 7d9f3f6e-2a4b-4c8e-9a51-0c6f1e2d3b4a "+
			"--repair",
	)
}

// errRemain is the command's failure if it found differences that remain.
var errRemain = errors.New("differences remain")

// Run verifies and prints.
func (c *verifyCommand) Run(ctx context.Context, out outputs) error {
	if c.Dev == "" && c.Endpoint == "" {
		return wrongUsage("either --dev or --endpoint is needed")
	}
	if err := (verify.Options{User: c.User}).Check(); err != nil {
		return wrongUsage("--user: %w", err)
	}
	bar := newCounter(out.messages, "rows")
	defer bar.end()
	report := func(d verify.Difference) error { return c.print(out.results, bar, d) }
	where := c.inTable
	if c.Dev != "" {
		where = c.inProcess
	}
	sum, err := where(ctx, out, bar, report)
	bar.end()
	if err != nil {
		return err
	}
	if err := c.summarise(out, sum); err != nil {
		return err
	}
	if sum.Remaining > 0 {
		return fmt.Errorf("%w: %d", errRemain, sum.Remaining)
	}
	return nil
}

func (c *verifyCommand) print(to io.Writer, bar *counter, d verify.Difference) error {
	if c.JSON {
		return json.NewEncoder(to).Encode(d)
	}
	bar.clear()
	state := "found"
	if d.Remains {
		state = "differs"
		if c.Repair {
			state = "remains"
		}
	}
	_, err := fmt.Fprintf(to, "%-8s %-10s %-12s %s\n         is:        %s\n         should be: %s\n", state, d.Kind,
		d.User, d.Key, d.Is, d.ShouldBe)
	return err
}

func (c *verifyCommand) summarise(out outputs, sum verify.Summary) error {
	if c.JSON {
		return json.NewEncoder(out.results).Encode(map[string]verify.Summary{"summary": sum})
	}
	for _, what := range sum.Unchecked {
		fmt.Fprintf(out.messages, "nexus: not checked: %s\n", what)
	}
	if sum.Unsettled > 0 {
		fmt.Fprintf(out.messages,
			"nexus: %d items or sums kept changing, or their repair failed: verify again in ten minutes\n", sum.Unsettled)
	}
	_, err := fmt.Fprintf(out.results, "%d users, %d items: %d differences found, %d remain\n", sum.Users, sum.Items,
		sum.Found, sum.Remaining)
	return err
}

// inTable verifies, from this process, the content of the table and of the named services of the deployment.
func (c *verifyCommand) inTable(
	ctx context.Context, out outputs, bar *counter, report func(verify.Difference) error,
) (verify.Summary, error) {
	client, done, err := local.NewClient(c.Endpoint)
	if err != nil {
		return verify.Summary{}, err
	}
	defer done()
	deployed, err := local.NewRemotePorts(local.Remote{
		ArchiveBucket: c.Bucket, BusName: c.Bus,
		ScheduleGroup: c.ScheduleGroup, ScheduleTargetARN: c.ScheduleTarget, ScheduleRoleARN: c.ScheduleRole,
		ScheduleDeadLetterARN: c.ScheduleDeadLetter, DeliverARN: c.Deliver,
	})
	if err != nil {
		return verify.Summary{}, wrongUsage("%w", err)
	}
	store := dynamo.New(client, dynamo.WithTable(c.Table))
	log := slog.New(mask.Clear(slog.NewTextHandler(out.messages, nil)))
	ports := system.Ports{
		Store: func(string) table.Store { return store }, Walker: dynamo.NewWalker(client, dynamo.WithTable(c.Table)),
		Now: time.Now, NewID: uuid.NewString, NewRevisionID: uuid.NewString,
		Random: rand.Reader, Grace: c.Grace, Lead: time.Minute, Wait: port.Sleep,
		Log: func(string) *slog.Logger { return log },
	}
	if deployed.Copies != nil {
		ports.Copies = deployed.Copies
	}
	if c.Pepper != "" {
		if ports.Pepper, err = parsePepper(c.Pepper); err != nil {
			return verify.Summary{}, err
		}
	}
	if ports.Limits, err = limit.Parse(c.Limits); err != nil {
		return verify.Summary{}, wrongUsage("--limits: %w", err)
	}
	if deployed.Scheduler != nil {
		ports.Scheduler, ports.Lister, ports.Bus = deployed.Scheduler, deployed.Scheduler, deployed.Bus
	}
	if deployed.Telling != nil {
		ports.Telling = deployed.Telling
	}
	s, err := system.New(product.Registry(), ports)
	if err != nil {
		return verify.Summary{}, err
	}
	return s.Verifier.Run(ctx, verify.Options{User: c.User, Repair: c.Repair, Progress: bar.show}, report)
}

// inProcess has a running system verify itself, and passes on its report.
func (c *verifyCommand) inProcess(
	ctx context.Context, _ outputs, bar *counter, report func(verify.Difference) error,
) (sum verify.Summary, err error) {
	body, err := json.Marshal(map[string]any{"user": c.User, "repair": c.Repair})
	if err != nil {
		return sum, err
	}
	response, err := postDev(ctx, c.Dev, "/dev/verify", "application/json", bytes.NewReader(body))
	if err != nil {
		return sum, err
	}
	defer response.Body.Close()
	return readLines(response.Body, bar, report)
}

// readLines reads the answer to its last line: the summary, or why there is none.
func readLines(from io.Reader, bar *counter, report func(verify.Difference) error) (verify.Summary, error) {
	lines := json.NewDecoder(from)
	for {
		var line local.VerifyLine
		if err := lines.Decode(&line); err != nil {
			return verify.Summary{}, fmt.Errorf("the answer breaks off: %w", err)
		}
		switch {
		case line.Summary != nil:
			return *line.Summary, nil
		case line.Error != "":
			return verify.Summary{}, errors.New(line.Error)
		case line.Difference != nil:
			if err := report(*line.Difference); err != nil {
				return verify.Summary{}, err
			}
		default:
			bar.show(line.Rows)
		}
	}
}
