package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// exportCommand is nexus export.
type exportCommand struct {
	URL  string `name:"url" placeholder:"URL" help:"Where Nexus is, for the calendar: http://127.0.0.1:8080."`
	User string `placeholder:"USER" help:"Whose it is. For a calendar that is not local, NEXUS_TOKEN says that."`
	Out  string `placeholder:"FILE" help:"Where to write it; standard output if not given."`
	All  bool   `help:"${export_all}"`
	accountPlace
}

// Run writes the whole calendar of any size: one VCALENDAR after the other (RFC 5545 §3.4) if it has several parts. It
// writes a file whole or not at all.
func (c *exportCommand) Run(ctx context.Context, out outputs) error {
	if c.All {
		return c.exportAll(ctx, out)
	}
	if c.URL == "" {
		return wrongUsage("--url is needed, or --all with --dev or --endpoint")
	}
	token, err := out.bearer(c.URL, c.User)
	if err != nil {
		return err
	}
	s := newCalendarServer(c.URL, token)
	defer s.close()
	bar := newProgress(out.messages, "calendar")
	defer bar.end()
	return c.write(out, func(to io.Writer) error { return s.export(ctx, to, bar) })
}

// write has the whole output written to the file, or to standard output.
func (c *exportCommand) write(out outputs, export func(to io.Writer) error) error {
	if c.Out == "" {
		return export(out.results)
	}
	file, err := os.CreateTemp(filepath.Dir(c.Out), filepath.Base(c.Out)+".*")
	if err != nil {
		return err
	}
	err = export(file)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), c.Out)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

func (s *calendarServer) export(ctx context.Context, to io.Writer, bar *progress) error {
	for part, parts := 1, 1; part <= parts; part++ {
		bar.show(part-1, parts)
		text, n, err := s.part(ctx, part)
		if err != nil {
			return err
		}
		parts = n
		if _, err := to.Write(text); err != nil {
			return fmt.Errorf("write the calendar: %w", err)
		}
	}
	return nil
}
