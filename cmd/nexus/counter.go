package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// counter is a bar on a terminal for work of unknown length. It appears when the work takes longer than a second.
type counter struct {
	bar   *progressbar.ProgressBar // nil without a terminal
	since time.Time
}

func newCounter(messages io.Writer, unit string) *counter {
	file, ok := messages.(*os.File)
	if !ok {
		return &counter{}
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &counter{}
	}
	return &counter{
		since: time.Now(),
		bar: progressbar.NewOptions64(-1, progressbar.OptionSetWriter(file), progressbar.OptionSetDescription("verify"),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetElapsedTime(true), progressbar.OptionSpinnerType(14)),
	}
}

// show shows the progress of the work.
func (c *counter) show(done int64) {
	if c.bar != nil && time.Since(c.since) > time.Second {
		_ = c.bar.Set64(done) // a failure of the display does not matter
	}
}

// clear makes room for a line; the next call of show draws the bar again.
func (c *counter) clear() {
	if c.bar != nil {
		_ = c.bar.Clear()
	}
}

// end removes the bar.
func (c *counter) end() {
	if c.bar != nil {
		_ = c.bar.Finish()
		c.bar = nil
	}
}
