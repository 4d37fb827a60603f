package simulate

import (
	"context"
	"log/slog"

	"nexus/pkg/consume"
	"nexus/pkg/reminders"
	"nexus/pkg/system"
)

// logOf returns the log of a part of the system. Of some histories it is read, so that what is logged is put together.
// What a verification logs is not read.
func (h *history) logOf(part string) *slog.Logger {
	if part != system.PartVerify && h.spec.Seed%heardOneIn == 0 {
		return slog.New(heard{h})
	}
	return slog.New(slog.DiscardHandler)
}

// heardOneIn histories write a log.
const heardOneIn = 8

type heard struct{ h *history }

func (heard) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (l heard) Handle(_ context.Context, r slog.Record) error {
	l.h.happened["log: "+r.Message]++
	return nil
}

// WithAttrs implements [slog.Handler].
func (l heard) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements [slog.Handler].
func (l heard) WithGroup(string) slog.Handler { return l }

// counted checks the batch loop's counts: every record is accounted for once (I8).
func (h *history) counted(consumer string, c consume.Counts) {
	if c.Records != c.Done+c.Parked+c.Unfinished || c.Already > c.Done || c.Records == 0 {
		h.violate("I8", "", consumer, "counts %+v", c)
	}
}

// observed records the outcomes of reminders.
func (h *history) observed(_ string, o reminders.Observation) {
	h.happened["observed "+string(o.Outcome)]++
}
