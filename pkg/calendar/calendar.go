package calendar

import (
	"io"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// Config holds the dependencies of a [Service]. Every field is required.
type Config struct {
	Store    table.Store
	Registry *entity.Registry
	// Now decides which items have expired, and which part of a large calendar is recent.
	Now func() time.Time
	// Random is the source of secrets: it must be fit for cryptography.
	Random io.Reader
}

// Service writes calendars and manages their addresses. It is safe for concurrent use if Random is.
type Service struct{ Config }

// New returns a service. It panics if a part of the Config is missing: a mistake in the program.
func New(c Config) *Service {
	if c.Store == nil || c.Registry == nil || c.Now == nil || c.Random == nil {
		panic("calendar: a part of the Config is missing")
	}
	return &Service{c}
}
