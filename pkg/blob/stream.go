package blob

import (
	"context"
	"io"
	"time"
)

// Streamer is a store that takes and gives objects of any size, piece by piece. Only the exports of accounts need it.
type Streamer interface {
	Purger
	// Write stores what fill writes under the name, and overwrites an existing object. The object is there, whole, when
	// Write returns nil. An error of fill is returned as it is; then nothing was stored. Purge also removes what a crash
	// leaves of a Write.
	Write(ctx context.Context, name string, fill func(to io.Writer) error) error
	// Open returns a reader of the body, which the caller closes, or [ErrNotFound].
	Open(ctx context.Context, name string) (io.ReadCloser, error)
}

// Linker makes addresses at which one object can be read without any other right.
type Linker interface {
	// Link returns the address of the object, whether or not there is one, and until when it serves. A browser that
	// opens it saves a file of the given name.
	Link(ctx context.Context, name, file string, lifetime time.Duration) (address string, until time.Time, err error)
}
