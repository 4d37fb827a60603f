package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/eventsource/streams"
	"nexus/pkg/local"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/replay"
)

// recordPause is the wait after a read of a stream that found nothing: a shard may be read five times a second.
const recordPause = 250 * time.Millisecond

// recordCommand is nexus record.
type recordCommand struct {
	StreamARN string `name:"stream-arn" placeholder:"ARN" xor:"where" help:"${record_stream}"`
	Dev       string `placeholder:"URL" xor:"where" help:"The process that runs there: http://127.0.0.1:8080."`
	Endpoint  string `placeholder:"URL" help:"Another service in the place of the region's, with --stream-arn."`
	All       bool   `help:"Keep the records that no consumer gets to see as well."`
	Follow    bool   `help:"Go on with what is written until interrupted, with --stream-arn."`
	Out       string `placeholder:"FILE" help:"Where the records go; standard output if not given."`
}

// Help describes a fixture.
func (*recordCommand) Help() string {
	return examples("Writes one record a line, exactly as Lambda receives it, from the oldest that the stream keeps to "+
		"where it ends now.",
		"nexus record --dev http://127.0.0.1:8080 --out stream.ndjson",
		"nexus record --stream-arn arn:aws:dynamodb:us-east-1:123456789012:table/ProductivityData/stream/2026-01-01T00:00:"+
			"00.000 --follow",
	)
}

// Run records. It removes a file that it could not finish. A stream that it follows has no end, so what was written
// of one stays.
func (c *recordCommand) Run(ctx context.Context, out outputs) (err error) {
	if c.Dev == "" && c.StreamARN == "" {
		return wrongUsage("either --dev or --stream-arn is needed")
	}
	if c.Dev != "" && (c.Follow || c.Endpoint != "") {
		return wrongUsage("--follow and --endpoint go with --stream-arn")
	}
	to := out.results
	if c.Out != "" {
		file, refused := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if refused != nil {
			return refused
		}
		to = file
		defer func() {
			if err = errors.Join(err, file.Close()); err != nil && !c.Follow {
				err = errors.Join(err, os.Remove(c.Out))
			}
		}()
	}
	bar := newCounter(out.messages, "records")
	defer bar.end()
	lines := &lineCounter{to: bufio.NewWriter(to), bar: bar}
	where := c.fromStream
	if c.Dev != "" {
		where = c.fromProcess
	}
	if err := errors.Join(where(ctx, out, lines), lines.to.Flush()); err != nil {
		return err
	}
	bar.end()
	fmt.Fprintf(out.messages, "nexus: %d records\n", lines.n)
	return nil
}

func (c *recordCommand) fromStream(ctx context.Context, out outputs, lines *lineCounter) error {
	source, done, err := local.NewStream(c.Endpoint, c.StreamARN, func(g streams.Gap) {
		fmt.Fprintf(out.messages, "nexus: records of shard %s behind %q were gone before they could be read\n",
			g.Shard, g.After)
	})
	if err != nil {
		return err
	}
	defer done()
	capture := replay.Capture{
		Registry: product.Registry(), Source: source, All: c.All, Follow: c.Follow, Pause: recordPause, Wait: port.Sleep,
	}
	return capture.Run(ctx, func(r change.Record) error {
		_, err := lines.Write(append(change.AppendRecord(nil, r), '\n'))
		return err
	})
}

func (c *recordCommand) fromProcess(ctx context.Context, _ outputs, lines *lineCounter) error {
	url := strings.TrimSuffix(c.Dev, "/") + "/dev/records"
	if c.All {
		url += "?all=true"
	}
	body, done, err := ask(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	defer done()
	if _, err := io.Copy(lines, body); err != nil {
		return fmt.Errorf("the answer breaks off: %w", err)
	}
	return nil
}

// recordsMedia is the type of records sent to or from a local process.
const recordsMedia = "application/x-ndjson"

// ask makes a request of a local process without a time limit. Done releases all resources.
func ask(ctx context.Context, method, url string, content []byte) (body io.Reader, done func(), err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(content))
	if err != nil {
		return nil, nil, wrongUsage("--dev: %w", err)
	}
	request.Header.Set("Content-Type", recordsMedia)
	transport := &http.Transport{}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, nil, err
	}
	done = func() {
		_ = response.Body.Close() // what there was to read has been read
		transport.CloseIdleConnections()
	}
	if response.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(response.Body, maxProblemBytes))
		done()
		return nil, nil, errors.Join(
			fmt.Errorf("%s %s: %s", method, url, received{response.StatusCode, response.Header, text}.problem()), err)
	}
	return response.Body, done, nil
}

// lineCounter counts the lines that are written through it.
type lineCounter struct {
	to  *bufio.Writer
	bar *counter
	n   int64
}

func (l *lineCounter) Write(p []byte) (int, error) {
	l.n += int64(bytes.Count(p, []byte("\n")))
	l.bar.show(l.n)
	return l.to.Write(p)
}
