package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/account"
	"nexus/pkg/local"
	"nexus/pkg/mask"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/verify"
)

// eraseCommand is nexus erase.
type eraseCommand struct {
	Dev      string `placeholder:"URL" xor:"where" help:"${erase_dev}"`
	Endpoint string `placeholder:"URL" xor:"where" help:"${erase_endpoint}"`
	Data     string `placeholder:"DIR" xor:"where" help:"${erase_data}"`
	Table    string `default:"ProductivityData" env:"TABLE_NAME" help:"The table's name, with --endpoint (${default})."`

	User   string `placeholder:"USER" xor:"what" help:"The user whose account is to be erased."`
	Due    bool   `xor:"what" help:"${erase_due}"`
	Again  bool   `xor:"what" help:"${erase_again}"`
	Now    bool   `help:"Erase at once, and end when nothing is left. Otherwise the account has 7 days."`
	DryRun bool   `help:"Count what there is of the user, and change nothing."`

	Pepper             string `placeholder:"HEX" env:"PEPPER" help:"${erase_pepper}"`
	Bucket             string `placeholder:"NAME" env:"ARCHIVE_BUCKET" help:"The bucket of cold copies."`
	Parking            string `placeholder:"NAME" env:"PARKING_BUCKET" help:"The bucket of parked records."`
	Snapshots          string `placeholder:"NAME" env:"SNAPSHOT_BUCKET" help:"The bucket of snapshots of indexes."`
	ScheduleGroup      string `placeholder:"NAME" env:"SCHEDULE_GROUP" help:"The schedule group."`
	ScheduleTarget     string `placeholder:"ARN" env:"SCHEDULE_TARGET_ARN" help:"${verify_target}"`
	ScheduleRole       string `placeholder:"ARN" env:"SCHEDULE_ROLE_ARN" help:"${verify_role}"`
	ScheduleDeadLetter string `placeholder:"ARN" env:"SCHEDULE_DEAD_LETTER_ARN" help:"${verify_letters}"`
	Bus                string `placeholder:"NAME" env:"BUS_NAME" help:"The event bus, which is told of the erasure."`
}

// Help describes what the command does not do.
func (*eraseCommand) Help() string {
	return examples("Erases the account of a user: all that docs/privacy.md lists, for good. What AWS keeps by itself "+
		"ends in the periods that docs/operations.md names. With --endpoint all settings are needed, as flags or in the "+
		"environment under the names of the functions' variables. "+
		"--dev and --data take --user, also with --now or --dry-run, and --again. --due needs --endpoint: a local system "+
		"erases by itself what is due. "+
		"--again belongs to the restore of a table: it erases again whom the restore brought back, and is to be run before "+
		"the restored table is used.",
		"nexus erase --dev http://127.0.0.1:8080 --user ann --now",
		"nexus erase --data .nexus --user ann --dry-run",
		"nexus erase --endpoint https://dynamodb.us-east-1.amazonaws.com --table Restored --again",
	)
}

// Run erases and prints what became of the account.
func (c *eraseCommand) Run(ctx context.Context, out outputs) error {
	switch {
	case c.Dev == "" && c.Endpoint == "" && c.Data == "":
		return wrongUsage("either --dev, --data or --endpoint is needed")
	case c.User == "" && !c.Due && !c.Again:
		return wrongUsage("either --user, --due or --again is needed")
	case c.Endpoint == "" && c.Due:
		return wrongUsage("--due needs --endpoint: a local system erases by itself what is due")
	case (c.Now || c.DryRun) && c.User == "", c.Now && c.DryRun:
		return wrongUsage("--now and --dry-run go with --user, one of them")
	}
	if err := (verify.Options{User: c.User}).Check(); err != nil {
		return wrongUsage("--user: %w", err)
	}
	switch {
	case c.Dev != "":
		return c.inProcess(ctx, out)
	case c.Data != "":
		return c.inDirectory(ctx, out)
	}
	s, walker, done, err := c.system(out)
	if err != nil {
		return err
	}
	defer done()
	switch {
	case c.Again:
		return c.again(ctx, s, walker, out)
	case c.Due:
		finished, err := s.Eraser.Run(ctx)
		fmt.Fprintf(out.results, "accounts erased: %d\n", finished)
		return err
	case c.DryRun:
		found, err := s.Eraser.Survey(ctx, c.User)
		if err != nil {
			return err
		}
		return json.NewEncoder(out.results).Encode(found)
	}
	if err := s.Eraser.CheckKnown(ctx, c.User); err != nil {
		return err
	}
	if !c.Now {
		eraseAt, err := s.Accounts.Leave(ctx, c.User)
		if err != nil {
			return err
		}
		return printErased(out, local.Erased{State: account.Leaving, EraseAt: &eraseAt})
	}
	if err := s.Eraser.CheckForm(ctx); err != nil {
		return fmt.Errorf("%w: run nexus verify --repair without --user first", err)
	}
	if err := s.Accounts.LeaveNow(ctx, c.User); err != nil && !errors.Is(err, account.ErrErased) {
		return err
	}
	fmt.Fprintf(out.messages, "nexus: the functions remember a state for a minute; the erasure takes at least %s\n",
		account.EdgeTime)
	erasure, err := s.Eraser.Erase(ctx, c.User)
	if err != nil {
		return err
	}
	return printErased(out, local.Erased{State: account.Erased, Erasure: &erasure})
}

func (c *eraseCommand) again(ctx context.Context, s *system.System, walker table.Walker, out outputs) error {
	again, err := s.Eraser.Again(ctx, walker)
	if err != nil {
		return err
	}
	return printAgain(out, again)
}

// printAgain prints a line for each account, and the counts as JSON. It fails if the table must not be used.
func printAgain(out outputs, again account.Again) error {
	for _, one := range again.Accounts {
		if _, err := fmt.Fprintln(out.results, one); err != nil {
			return err
		}
	}
	again.Accounts = nil
	return errors.Join(json.NewEncoder(out.results).Encode(again), again.Check())
}

// printErased prints what an erasure has done, or else what state the account has.
func printErased(out outputs, erased local.Erased) error {
	line := fmt.Sprintf("the account is %s", erased.State)
	switch {
	case erased.Erasure != nil && erased.Erasure.Account != "":
		line = erased.Erasure.String()
	case erased.EraseAt != nil && erased.State == account.Leaving:
		line = "the account is to be erased at " + erased.EraseAt.UTC().Format(time.RFC3339)
	}
	_, err := fmt.Fprintln(out.results, line)
	return err
}

// system returns a system on the table and the services of the deployment.
func (c *eraseCommand) system(out outputs) (s *system.System, walker table.Walker, done func(), err error) {
	var missing []string
	for _, one := range []struct{ flag, value string }{
		{"--pepper", c.Pepper}, {"--bucket", c.Bucket}, {"--parking", c.Parking}, {"--snapshots", c.Snapshots},
		{"--schedule-group", c.ScheduleGroup},
		{"--schedule-target", c.ScheduleTarget}, {"--schedule-role", c.ScheduleRole},
		{"--schedule-dead-letter", c.ScheduleDeadLetter}, {"--bus", c.Bus},
	} {
		if one.value == "" {
			missing = append(missing, one.flag)
		}
	}
	if len(missing) > 0 {
		return nil, nil, nil, wrongUsage("an erasure needs all places: %s", strings.Join(missing, ", "))
	}
	own, err := parsePepper(c.Pepper)
	if err != nil {
		return nil, nil, nil, err
	}
	deployed, err := local.NewRemotePorts(local.Remote{
		ArchiveBucket: c.Bucket, ParkingBucket: c.Parking, SnapshotBucket: c.Snapshots, BusName: c.Bus,
		ScheduleGroup: c.ScheduleGroup, ScheduleTargetARN: c.ScheduleTarget, ScheduleRoleARN: c.ScheduleRole,
		ScheduleDeadLetterARN: c.ScheduleDeadLetter,
	})
	if err != nil {
		return nil, nil, nil, wrongUsage("%w", err)
	}
	client, done, err := local.NewClient(c.Endpoint)
	if err != nil {
		return nil, nil, nil, err
	}
	store := dynamo.New(client, dynamo.WithTable(c.Table))
	log := slog.New(mask.New(slog.NewTextHandler(out.messages, nil), own))
	s, err = system.New(product.Registry(), system.Ports{
		Store: func(string) table.Store { return store }, Now: time.Now, NewID: uuid.NewString, Pepper: own,
		Scheduler: deployed.Scheduler, Lister: deployed.Scheduler, Bus: deployed.Bus,
		Erasing: &system.Erasing{
			Archive: deployed.Copies, Parking: deployed.Parked, Snapshots: deployed.Snapshots, Bus: deployed.Bus,
			Wait:     port.Sleep,
			Patience: account.Patience, EdgeTime: account.EdgeTime, Rate: account.Rate,
		},
		Log: func(string) *slog.Logger { return log },
	})
	if err != nil {
		done()
		return nil, nil, nil, err
	}
	return s, dynamo.NewWalker(client, dynamo.WithTable(c.Table)), done, nil
}

// inDirectory starts the system of a data directory, has it erase, and stops it.
func (c *eraseCommand) inDirectory(ctx context.Context, out outputs) (err error) {
	if _, err := os.Stat(filepath.Join(c.Data, local.PepperFile)); err != nil {
		return fmt.Errorf("--data: %s is no data directory of a local system: %w", c.Data, err)
	}
	p, err := local.Start(ctx, local.Options{
		DataDir: c.Data, Addr: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(out.messages, nil)),
		EraseAgain: c.Again, Despite: c.User != "",
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop(context.WithoutCancel(ctx))) }()
	c.Dev = p.URL()
	return c.inProcess(ctx, out)
}

// inProcess has a running system erase.
func (c *eraseCommand) inProcess(ctx context.Context, out outputs) error {
	request := map[string]any{"user": c.User, "now": c.Now, "dryRun": c.DryRun}
	if c.Again {
		request = map[string]any{"again": true}
	}
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	response, err := postDev(ctx, c.Dev, "/dev/erase", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var (
		again  account.Again
		found  account.Survey
		erased local.Erased
	)
	into := any(&erased)
	switch {
	case c.Again:
		into = &again
	case c.DryRun:
		into = &found
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch {
	case c.Again:
		return printAgain(out, again)
	case c.DryRun:
		return json.NewEncoder(out.results).Encode(found)
	}
	return printErased(out, erased)
}
