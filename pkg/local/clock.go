package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"nexus/pkg/durable"
	"nexus/pkg/local/engine"
)

// errBackwards says that time was asked to go back.
var errBackwards = errors.New("the clock moves only forward")

// clock is the platform's time: the machine's, moved forward by an offset. A new offset is on disk before it takes
// effect, so that no restart takes time back.
type clock struct {
	machine func() time.Time
	file    string // empty: the offset ends with the process

	mu    sync.Mutex
	moves []move        // the last ones, in order: the offset is that of the last
	moved chan struct{} // closed and replaced by every move
}

const resetClock = "Remove the file; the clock then shows the machine's time, which may be earlier than what it showed"

// savedClock is the file's content.
type savedClock struct {
	Offset string `json:"offset"` // a Go duration
	Moves  []move `json:"moves,omitempty"`
}

// move is a change of the offset, at a second of the machine's clock: records have no finer time.
type move struct {
	At     time.Time     `json:"at"`
	Offset time.Duration `json:"offset"`
}

const keptMoves = 1000

func openClock(machine func() time.Time, file string) (*clock, error) {
	c := &clock{machine: machine, file: file, moved: make(chan struct{})}
	if file == "" {
		return c, nil
	}
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open clock: %w", err)
	}
	var saved savedClock
	if err := json.Unmarshal(content, &saved); err != nil {
		return nil, engine.Damaged(file, err, resetClock)
	}
	offset, err := time.ParseDuration(saved.Offset)
	if err != nil || offset < 0 {
		return nil, engine.Damaged(file, fmt.Errorf("offset %q is no duration from zero on", saved.Offset), resetClock)
	}
	if c.moves = saved.Moves; len(c.moves) == 0 { // a release before this one has written it
		c.moves = []move{{Offset: offset}}
	}
	return c, nil
}

// Now returns the platform's time in UTC.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *clock) now() time.Time { return c.machine().Add(c.offset()).UTC() }

func (c *clock) offset() time.Duration {
	if len(c.moves) == 0 {
		return 0
	}
	return c.moves[len(c.moves)-1].Offset
}

// at returns the platform's time at an instant of the machine's clock, as it is moved now.
func (c *clock) at(instant time.Time) time.Time { return instant.Add(c.Offset()).UTC() }

// recorded returns the platform's time at a second of the machine's clock, as it was moved then. The offset is rounded
// up to a second, so that a record of a second is not before what was written in it. It gives the same for as long as
// the moves since are kept.
func (c *clock) recorded(instant time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range slices.Backward(c.moves) {
		if !instant.Before(m.At) {
			return instant.Add((m.Offset + time.Second - 1).Truncate(time.Second)).UTC()
		}
	}
	return instant.UTC()
}

// Offset returns how far the clock is ahead of the machine's.
func (c *clock) Offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offset()
}

// MoveTo sets the clock to the instant, from which it continues. A past instant is errBackwards.
func (c *clock) MoveTo(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if at.Before(now) {
		return fmt.Errorf("%w: it is %s already", errBackwards, now.Format(time.RFC3339))
	}
	offset := c.offset() + at.Sub(now)
	moves := append(slices.Clone(c.moves), move{c.machine().UTC().Truncate(time.Second), offset})
	moves = moves[max(0, len(moves)-keptMoves):]
	if c.file != "" {
		content, err := json.Marshal(savedClock{offset.String(), moves})
		if err != nil {
			return fmt.Errorf("move clock: %w", err)
		}
		if err := durable.WriteFile(c.file, append(content, '\n')); err != nil {
			return fmt.Errorf("move clock: %w", err)
		}
	}
	c.moves = moves
	close(c.moved)
	c.moved = make(chan struct{})
	return nil
}

// Moved returns a channel that is closed at the next move. A caller that waits for an instant takes it before reading
// the time.
func (c *clock) Moved() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved
}
