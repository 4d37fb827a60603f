package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

var errUnexpected = errors.New("unexpected outcome")

func unexpected(what string) error { return fmt.Errorf("%w: %s", errUnexpected, what) }

const attrDescription = "description"

// decodeGoal is how many times as many records a second as the stock event type.
const decodeGoal = 6

// decodeTable prints one line for each kind of batch: this product's reader beside the event type of the Lambda
// package.
func decodeTable(ctx context.Context, out io.Writer, registry *entity.Registry, run streamRun) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "batch of\timage\trecords/s a core\tKB a record\tstock event type\tKB a record\ttimes\tgoal\t")
	for _, kind := range recordKinds {
		records, err := kind.make(registry, run.records)
		if err != nil {
			return err
		}
		payload := change.AppendEvent(nil, records)
		ours, err := repeat(ctx, run.measure, func() error { return readChanges(payload, registry, run.records) })
		if err != nil {
			return err
		}
		theirs, err := repeat(ctx, run.measure, func() error { return readStock(payload, run.records) })
		if err != nil {
			return err
		}
		perSecond := func(r repeated) float64 { return float64(r.n*run.records) / r.processor.Seconds() }
		perRecord := func(r repeated) float64 { return float64(r.bytes) / 1024 / float64(r.n*run.records) }
		fmt.Fprintf(w, "%s\t%d B\t%.0f\t%.1f\t%.0f\t%.1f\t%.1f\t%d\t\n", kind.name, imageBytes(records),
			perSecond(ours), perRecord(ours), perSecond(theirs), perRecord(theirs), perSecond(ours)/perSecond(theirs),
			decodeGoal)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return badRecordLine(out, registry, run.records)
}

func readChanges(payload []byte, registry *entity.Registry, n int) error {
	decoded, err := change.Decode(payload, registry)
	if err != nil {
		return err
	}
	for _, d := range decoded {
		if d.Err != nil {
			return d.Err
		}
	}
	if len(decoded) != n {
		return unexpected("records are missing")
	}
	return nil
}

func readStock(payload []byte, n int) error {
	var event events.DynamoDBEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return fmt.Errorf("stock event type: %w", err)
	}
	if len(event.Records) != n {
		return unexpected("records are missing")
	}
	return nil
}

// badRecordLine says what both make of a batch with one attribute that is of no type.
func badRecordLine(out io.Writer, registry *entity.Registry, n int) error {
	records, err := recordKinds[0].make(registry, n)
	if err != nil {
		return err
	}
	payload := change.AppendEvent(nil, records)
	bad := bytes.Replace(payload, []byte(`{"S":"Room 4"}`), []byte(`{"S":["Room 4"]}`), 1)
	decoded, err := change.Decode(bad, registry)
	if err != nil {
		return err
	}
	named := 0
	for _, d := range decoded {
		if d.Err != nil && d.Sequence != "" {
			named++
		}
	}
	stock := "reads it"
	if readStock(bad, n) != nil {
		stock = "fails the whole batch"
	}
	_, err = fmt.Fprintf(out, "with one bad attribute: %d changes and %d record named; the stock event type %s\n",
		len(decoded)-named, named, stock)
	return err
}

// repeated is what n runs took together.
type repeated struct {
	n int
	spent
}

// repeat runs the operation for about so long.
func repeat(ctx context.Context, long time.Duration, operation func() error) (repeated, error) {
	if err := operation(); err != nil { // what is only paid for once
		return repeated{}, err
	}
	n := 0
	s, err := spending(func() error {
		for end := time.Now().Add(long); n == 0 || time.Now().Before(end) && ctx.Err() == nil; n++ {
			if err := operation(); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	return repeated{n, s}, err
}

// recordKind is one sort of records of changes, both images about 1.9 KB.
type recordKind struct {
	name string
	make func(registry *entity.Registry, n int) ([]change.Record, error)
}

var recordKinds = []recordKind{
	{"changed events", func(registry *entity.Registry, n int) ([]change.Record, error) {
		return recordsOf(n, func(i int) (before, after item.Item, err error) {
			return eventImages(registry, i)
		})
	}},
	{"changed series", func(registry *entity.Registry, n int) ([]change.Record, error) {
		return recordsOf(n, func(i int) (before, after item.Item, err error) {
			return seriesImages(registry, i)
		})
	}},
	{"changed occurrences", func(registry *entity.Registry, n int) ([]change.Record, error) {
		return recordsOf(n, func(i int) (before, after item.Item, err error) {
			return occurrenceImages(registry, i)
		})
	}},
	{"new events", func(registry *entity.Registry, n int) ([]change.Record, error) {
		return recordsOf(n, func(i int) (before, after item.Item, err error) {
			after, _, err = eventImages(registry, i)
			return nil, after, err
		})
	}},
}

func recordsOf(n int, images func(i int) (before, after item.Item, err error)) ([]change.Record, error) {
	out := make([]change.Record, n)
	for i := range out {
		before, after, err := images(i)
		if err != nil {
			return nil, err
		}
		name := change.Modify
		if before == nil {
			name = change.Insert
		}
		out[i] = change.Record{
			EventID: fmt.Sprintf("%032x", i), Name: name, Sequence: fmt.Sprintf("1405400000%015d", i), Created: base,
			Key: after.Key(), Old: before, New: after,
			SourceARN: "arn:aws:dynamodb:eu-central-1:000000000000:table/ProductivityData/stream/2026-01-01T00:00:00.000",
		}
	}
	return out, nil
}

// imageBytes is the length of a new image in a record, on average.
func imageBytes(records []change.Record) int {
	total := 0
	for _, r := range records {
		total += len(change.AppendItem(nil, r.New))
	}
	return total / len(records)
}

// wordy is text that no two items share.
func wordy(i, bytes int) item.String {
	sentence := fmt.Sprintf("What was decided in part %d, and what comes next. ", i)
	return item.String(strings.Repeat(sentence, bytes/len(sentence)+1)[:bytes])
}

func eventImages(registry *entity.Registry, i int) (before, after item.Item, err error) {
	t, owner := registry.Named(product.TypeEvent), fmt.Sprintf("user_%d", i/5)
	before, err = created(t, owner, fmt.Sprintf("evt_6f1d2c3b-0000-4000-8000-%012d", i),
		itemBody(5, base.Add(time.Duration(i)*time.Hour)).Body, base)
	if err != nil {
		return nil, nil, err
	}
	before[attrDescription] = wordy(i, 1000)
	entity.SetLinks(before,
		[]entity.Link{{Target: entity.Ref{Type: product.TypeNote, ID: fmt.Sprintf("note_%d", i)}, Relation: "minutes"}})
	after = before.Clone()
	after.SetTime(product.AttrStartUtc, base.Add(time.Duration(i+2)*time.Hour))
	after.SetTime(product.AttrEndUtc, base.Add(time.Duration(i+3)*time.Hour))
	return before, t.Next(entity.ByUser, owner, before, after, base.Add(time.Minute), nil), nil
}

func seriesImages(registry *entity.Registry, i int) (before, after item.Item, err error) {
	t, owner := registry.Named(entity.TypeMaster), fmt.Sprintf("user_%d", i/5)
	d, dated := recurring(base, i)
	before, err = created(t, owner, fmt.Sprintf("mst_6f1d2c3b-0000-4000-8000-%012d", i), d.Body, d.At)
	if err != nil {
		return nil, nil, err
	}
	before[attrDescription] = wordy(i, 500)
	var gone item.List
	for k := range 20 {
		gone = append(gone, item.String(dated.AddDate(0, 0, 7*k).Format(time.DateOnly)))
	}
	before["exdate"] = gone
	after = before.Clone()
	after["exdate"] = append(gone[:len(gone):len(gone)], item.String(dated.AddDate(0, 0, 147).Format(time.DateOnly)))
	return before, t.Next(entity.ByUser, owner, before, after, base.Add(time.Minute), nil), nil
}

func occurrenceImages(registry *entity.Registry, i int) (before, after item.Item, err error) {
	master, _, err := seriesImages(registry, i)
	if err != nil {
		return nil, nil, err
	}
	_, dated := recurring(base, i)
	owner := fmt.Sprintf("user_%d", i/5)
	before = exceptionRow(owner, master, exceptions(i, dated)[1], base)
	before[attrDescription] = wordy(i, 1150)
	after = before.Clone()
	after[entity.AttrTitle] = item.String(fmt.Sprintf("Series %d, and another way", i))
	return before, product.Instance().Next(entity.ByUser, owner, before, after, base.Add(time.Minute), nil), nil
}
