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
	URL  string `name:"url" required:"" placeholder:"URL" help:"Where Nexus is: http://127.0.0.1:8080."`
	User string `placeholder:"USER" help:"Whose calendar it is, of a local system; elsewhere NEXUS_TOKEN says that."`
	Out  string `placeholder:"FILE" help:"Where to write the calendar; standard output if not given."`
}

// Run writes the whole calendar of any size: one VCALENDAR after the other (RFC 5545 §3.4) if it has several parts. It
// writes a file whole or not at all.
func (c *exportCommand) Run(ctx context.Context, out outputs) error {
	token, err := out.bearer(c.URL, c.User)
	if err != nil {
		return err
	}
	s := newCalendarServer(c.URL, token)
	defer s.close()
	bar := newProgress(out.messages, "calendar")
	defer bar.end()
	if c.Out == "" {
		return s.export(ctx, out.results, bar)
	}
	file, err := os.CreateTemp(filepath.Dir(c.Out), filepath.Base(c.Out)+".*")
	if err != nil {
		return err
	}
	err = s.export(ctx, file, bar)
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
