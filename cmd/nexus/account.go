package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/url"
	"os"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/account"
	"nexus/pkg/command"
	"nexus/pkg/local"
	"nexus/pkg/pepper"
	"nexus/pkg/product"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/transfer"
)

// accountPlace says where the whole account is that a command exports or imports.
type accountPlace struct {
	Dev      string `placeholder:"URL" xor:"where" help:"${account_dev}"`
	Endpoint string `placeholder:"URL" xor:"where" help:"${account_endpoint}"`
	Table    string `default:"ProductivityData" help:"The table's name, with --endpoint (${default})."`
	Bucket   string `placeholder:"NAME" env:"ARCHIVE_BUCKET" help:"${account_bucket}"`
	Pepper   string `placeholder:"HEX" env:"PEPPER" help:"${account_pepper}"`
}

// check refuses a place that is not whole.
func (p *accountPlace) check(user string) error {
	switch {
	case p.Dev == "" && p.Endpoint == "":
		return wrongUsage("--all needs --dev or --endpoint")
	case user == "":
		return wrongUsage("--all needs --user")
	case p.Endpoint != "" && p.Bucket == "":
		return wrongUsage("--endpoint needs --bucket: without it the archive would be left out")
	}
	return nil
}

// open returns the service that works on the table and the bucket of the place, from this process.
func (p *accountPlace) open(ctx context.Context) (s *transfer.Service, done func(), err error) {
	client, done, err := local.NewClient(p.Endpoint)
	if err != nil {
		return nil, nil, err
	}
	deployed, err := local.NewRemotePorts(local.Remote{ArchiveBucket: p.Bucket})
	if err != nil {
		done()
		return nil, nil, wrongUsage("%w", err)
	}
	store := dynamo.New(client, dynamo.WithTable(p.Table))
	ports := system.Ports{
		Store: func(string) table.Store { return store }, Copies: deployed.Copies, Now: time.Now, NewID: uuid.NewString,
		NewRevisionID: uuid.NewString, Random: rand.Reader, Pause: command.RandomPause(mathrand.Float64, time.Now),
	}
	if ports.Pepper, err = p.pepper(ctx, store); err != nil {
		done()
		return nil, nil, err
	}
	assembled, err := system.New(product.Registry(), ports)
	if err != nil {
		done()
		return nil, nil, err
	}
	return assembled.Transfer, done, nil
}

// pepper returns the pepper, which a table needs from which an account has left: without it no row tells whose.
func (p *accountPlace) pepper(ctx context.Context, store table.Reader) (out pepper.Pepper, err error) {
	if p.Pepper != "" {
		return parsePepper(p.Pepper)
	}
	needed, err := account.HasPepper(ctx, store)
	if err == nil && needed {
		err = wrongUsage("--pepper is needed: an account has left this table")
	}
	return out, err
}

// exportAll writes everything of the user.
func (c *exportCommand) exportAll(ctx context.Context, out outputs) error {
	if err := c.check(c.User); err != nil {
		return err
	}
	bar := newCounter(out.messages, "lines")
	defer bar.end()
	return c.write(out, func(to io.Writer) error {
		m, err := c.exportTo(ctx, to, bar)
		bar.end()
		nameMissing(out, m.Missing, len(m.Missing))
		return err
	})
}

func (c *exportCommand) exportTo(ctx context.Context, to io.Writer, bar *counter) (transfer.Manifest, error) {
	if c.Dev != "" {
		return c.exportFrom(ctx, to)
	}
	s, done, err := c.open(ctx)
	if err != nil {
		return transfer.Manifest{}, err
	}
	defer done()
	return local.ExportAccount(ctx, s, c.User, to, func(lines int) { bar.show(int64(lines)) })
}

// nameMissing names what a file has not because it could not be read.
func nameMissing(out outputs, missing []transfer.Missing, total int) {
	for _, m := range missing {
		fmt.Fprintf(out.messages, "nexus: left out: %s: %s\n", m.ID, m.Why)
	}
	if more := total - len(missing); more > 0 {
		fmt.Fprintf(out.messages, "nexus: %d more were left out\n", more)
	}
}

// exportFrom copies what a running local system exports, and returns the manifest: it is in the file alone.
func (c *exportCommand) exportFrom(ctx context.Context, to io.Writer) (m transfer.Manifest, err error) {
	body, err := json.Marshal(map[string]string{"user": c.User})
	if err != nil {
		return m, err
	}
	response, err := postDev(ctx, c.Dev, "/dev/export", "application/json", bytes.NewReader(body))
	if err != nil {
		return m, err
	}
	defer response.Body.Close()
	file, err := os.CreateTemp("", "nexus-export-*")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	size, err := io.Copy(io.MultiWriter(to, file), response.Body)
	if err != nil {
		return m, fmt.Errorf("the export breaks off: %w", err)
	}
	return transfer.ReadManifest(file, size)
}

// importAll puts a file into the user's account.
func (c *importCommand) importAll(ctx context.Context, out outputs) (err error) {
	if err := c.check(c.User); err != nil {
		return err
	}
	if len(c.Files) != 1 {
		return wrongUsage("--all takes one file")
	}
	file, err := os.Open(c.Files[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var report transfer.Report
	if c.Dev != "" {
		report, err = c.importInto(ctx, file)
	} else {
		report, err = c.importHere(ctx, out, file)
	}
	if err != nil {
		return err
	}
	return c.reportAll(out, report)
}

func (c *importCommand) importInto(ctx context.Context, file io.Reader) (report transfer.Report, err error) {
	response, err := postDev(ctx, c.Dev, "/dev/import?user="+url.QueryEscape(c.User), "application/zip",
		struct{ io.Reader }{file}) // the caller closes the file
	if err != nil {
		return report, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&report); err != nil {
		return report, fmt.Errorf("the answer is no report: %w", err)
	}
	return report, nil
}

func (c *importCommand) importHere(
	ctx context.Context, out outputs, file *os.File,
) (report transfer.Report, err error) {
	info, err := file.Stat()
	if err != nil {
		return report, err
	}
	s, done, err := c.open(ctx)
	if err != nil {
		return report, err
	}
	defer done()
	bar := newCounter(out.messages, "rows")
	defer bar.end()
	return s.Import(ctx, c.User, file, info.Size(), func(done int) { bar.show(int64(done)) })
}

// reportAll reports what was imported: counts as results, texts of which characters were replaced as messages.
func (c *importCommand) reportAll(out outputs, report transfer.Report) error {
	if c.JSON {
		return json.NewEncoder(out.results).Encode(report)
	}
	for _, cleaned := range report.Cleaned {
		fmt.Fprintf(out.messages, "%s:%d: %s: characters that a text must not have became spaces\n", cleaned.File,
			cleaned.Line, cleaned.Pointer)
	}
	if more := report.CleanedTotal - len(report.Cleaned); more > 0 {
		fmt.Fprintf(out.messages, "%d more texts had such characters\n", more)
	}
	nameMissing(out, report.Missing, report.MissingTotal)
	again := ""
	if report.Again {
		again = ", all of which had been imported before"
	}
	_, err := fmt.Fprintf(out.results, "%d items, %d archived items, %d ids of deleted items, %d revisions%s\n",
		report.Items, report.Archived, report.Gone, report.Revisions, again)
	return err
}
