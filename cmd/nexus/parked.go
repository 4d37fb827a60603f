package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"nexus/pkg/local"
)

// parkedCommand is nexus parked.
type parkedCommand struct {
	Dev    string            `placeholder:"URL" required:"" help:"${parked_dev}"`
	Filter map[string]string `placeholder:"NAME=TEXT" mapsep:"none" help:"${parked_filter}"`
	JSON   bool              `name:"json" help:"Write a line of JSON for each group."`
}

// Help shows how the command is used.
func (*parkedCommand) Help() string {
	return examples("Lists what consumers could not process, by consumer and reason, the largest group first.",
		"nexus parked --dev http://127.0.0.1:8080",
		"nexus parked --dev http://127.0.0.1:8080 --filter consumer=reminders --filter user=ann")
}

// parkedFilterOf reads a filter of the command line.
func parkedFilterOf(flags map[string]string) (f local.ParkedFilter, err error) {
	for name, value := range flags {
		if value == "" { // as of a variable of the shell that is not set: it would select all
			return f, wrongUsage("--filter: %s has no value", name)
		}
		switch name {
		case "consumer":
			f.Consumer = value
		case "user":
			f.User = value
		case "reason":
			f.Reason = value
		case "object":
			f.Object = value
		default:
			return f, wrongUsage("--filter: there is no %q; there are consumer, user, reason and object", name)
		}
	}
	return f, nil
}

// Run prints the groups.
func (c *parkedCommand) Run(ctx context.Context, out outputs) error {
	f, err := parkedFilterOf(c.Filter)
	if err != nil {
		return err
	}
	query := make([]string, 0, len(c.Filter))
	for name, value := range map[string]string{
		"consumer": f.Consumer, "user": f.User, "reason": f.Reason, "object": f.Object,
	} {
		if value != "" {
			query = append(query, name+"="+url.QueryEscape(value))
		}
	}
	address := strings.TrimSuffix(c.Dev, "/") + "/dev/parked?groups=true"
	if len(query) > 0 {
		address += "&" + strings.Join(query, "&")
	}
	from, end, err := ask(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	defer end()
	var groups struct {
		Items []local.ParkedGroup `json:"items"`
	}
	if err := json.NewDecoder(io.LimitReader(from, maxAnswer)).Decode(&groups); err != nil {
		return fmt.Errorf("GET %s: the answer breaks off: %w", address, err)
	}
	if c.JSON {
		to := json.NewEncoder(out.results)
		for _, g := range groups.Items {
			if err := to.Encode(g); err != nil {
				return err
			}
		}
		return nil
	}
	total := 0
	for _, g := range groups.Items {
		total += g.Count
		fmt.Fprintf(out.results, "%6d  %-10s %s\n        users: %d, %s to %s, such as %s\n", g.Count, g.Consumer, g.Reason,
			g.Users, g.Oldest.Format(time.RFC3339), g.Newest.Format(time.RFC3339), g.Example)
	}
	fmt.Fprintf(out.results, "%d parked\n", total)
	return nil
}

// redriveCommand is nexus redrive.
type redriveCommand struct {
	Dev    string            `placeholder:"URL" required:"" help:"${parked_dev}"`
	Filter map[string]string `placeholder:"NAME=TEXT" mapsep:"none" help:"${parked_filter}"`
	DryRun bool              `help:"Only tell what a delivery would do, tried in an empty system in memory."`
	JSON   bool              `name:"json" help:"Write a line of JSON for each object, and the summary as the last."`
}

// Help shows how the command is used.
func (*redriveCommand) Help() string {
	return examples("Delivers parked records to their consumers again. What is done is deleted. "+
		"An interrupt ends it; the next call goes on. Exits with 1 if something could not be done.",
		"nexus redrive --dev http://127.0.0.1:8080 --filter consumer=reminders --dry-run",
		"nexus redrive --dev http://127.0.0.1:8080 --filter consumer=reminders")
}

// errLeft is the command's failure if records stay parked.
var errLeft = errors.New("records stay parked")

// Run delivers and prints.
func (c *redriveCommand) Run(ctx context.Context, out outputs) error {
	filter, err := parkedFilterOf(c.Filter)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"filter": filter, "dryRun": c.DryRun})
	if err != nil {
		return err
	}
	response, err := postDev(ctx, c.Dev, "/dev/parked/redrive", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	for lines := json.NewDecoder(response.Body); ; {
		var one local.Redriven
		if err := lines.Decode(&one); err != nil {
			return fmt.Errorf("the answer breaks off: %w", err)
		}
		if one.Error != "" {
			return errors.New(one.Error)
		}
		if err := c.print(out.results, one); err != nil {
			return err
		}
		if sum := one.Summary; sum != nil {
			if left := sum.Matched - sum.Done; left > 0 {
				return fmt.Errorf("%w: %d", errLeft, left)
			}
			return nil
		}
	}
}

func (c *redriveCommand) print(to io.Writer, one local.Redriven) error {
	if c.JSON {
		return json.NewEncoder(to).Encode(one)
	}
	var err error
	if o := one.Object; o != nil {
		_, err = fmt.Fprintf(to, "%-10s %-10s %s\n", o.Outcome, o.Consumer, o.Name)
		if o.Reason != "" {
			_, err = fmt.Fprintf(to, "           %s\n", o.Reason)
		}
	} else if s := one.Summary; s != nil {
		would := ""
		if s.DryRun {
			would = "would be "
		}
		_, err = fmt.Fprintf(to, "%d match: %s%d done, %d parked, %d unfinished, %d unknown\n", s.Matched, would, s.Done,
			s.Parked, s.Unfinished, s.Unknown)
	}
	return err
}
