package calendar

import (
	"io"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// Config is what a [Service] works with. Every field is required.
type Config struct {
	Store    table.Store
	Registry *entity.Registry
	// Now decides what has left, and which part of a large calendar is recent.
	Now func() time.Time
	// Random is where secrets come from: it must be fit for cryptography.
	Random io.Reader
}

// Service writes calendars and keeps their addresses. It is safe for concurrent use if Random is.
type Service struct{ Config }

// New returns a service. It panics if a part of the Config is missing: a mistake in the program.
func New(c Config) *Service {
	if c.Store == nil || c.Registry == nil || c.Now == nil || c.Random == nil {
		panic("calendar: a part of the Config is missing")
	}
	return &Service{c}
}
