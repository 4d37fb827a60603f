package reminders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"nexus/pkg/entity"
	"nexus/pkg/queue"
)

// Walker carries out the walks that records have set off. Each message of the queue is for one walk.
type Walker struct{ engine }

// NewWalker returns a walker. It panics on an incomplete configuration, a mistake in the program.
func NewWalker(c Config) *Walker { return &Walker{newPuttingEngine(c)} }

// job is the body of a message: the walk's user and the sort key of its cursor. Everything else is in the cursor.
type job struct {
	UserID string `json:"userId"`
	Cursor string `json:"cursor"`
}

// Handle does the work of a message for 20 seconds, and puts what is left as a new message after all others. An error
// leaves the message for another attempt. A message of a user whose account is gone is done unread.
func (w *Walker) Handle(ctx context.Context, body []byte) error {
	one, err := w.parseJob(body)
	if err != nil {
		return err
	}
	if w.IsGone != nil {
		if isGone, err := w.IsGone(ctx, one.user); err != nil || isGone {
			return err
		}
	}
	err = w.walk(ctx, one)
	if errors.Is(err, errPaused) {
		return w.put(ctx, one)
	}
	return err
}

// parseJob returns the walk of a message, or a [*PayloadError].
func (e engine) parseJob(body []byte) (walk, error) {
	var j job
	if err := json.Unmarshal(body, &j); err != nil {
		return walk{}, &PayloadError{"", "is not a walk's: " + err.Error()}
	}
	if err := entity.CheckUserID(j.UserID); err != nil {
		return walk{}, &PayloadError{"userId", "is wrong: " + err.Error()}
	}
	w, err := e.walkOf(j.UserID, j.Cursor)
	if err != nil {
		return walk{}, &PayloadError{"cursor", "is wrong: " + err.Error()}
	}
	return w, nil
}

// walkOf returns the walk whose cursor has the sort key, or an [ErrCursor].
func (e engine) walkOf(user, sk string) (walk, error) {
	key, err := entity.ParseSortKey(sk)
	if err != nil {
		return walk{}, fmt.Errorf("%w: %w", ErrCursor, err)
	}
	if len(key.Components) == 0 {
		return walk{}, fmt.Errorf("%w: %.80q", ErrCursor, sk)
	}
	version, err := strconv.ParseInt(key.Components[len(key.Components)-1], 10, 64)
	switch {
	case err != nil:
		return walk{}, fmt.Errorf("%w: %.80q has no version", ErrCursor, sk)
	case key.Prefix == entity.RowZone:
		return e.moveZone(user, version), nil
	case key.Prefix == entity.RowSeries:
		return e.moveSeries(user, key.Components[0], version), nil
	}
	return walk{}, fmt.Errorf("%w: %.80q", ErrCursor, sk)
}

// setOff makes sure that a walk is carried out: it writes the walk's cursor, unless it is there, and puts a message. A
// repetition puts another message, until the cursor says that the walk is finished: the one before may have died
// between its two calls. A walk that finds nothing gets neither.
func (c *Consumer) setOff(ctx context.Context, w walk) error {
	cur, err := c.readCursor(ctx, w.key)
	switch {
	case err != nil:
		return err
	case cur.isFinished():
		return nil
	case cur.revision == 0:
		if finds, err := c.finds(ctx, w); err != nil || !finds {
			return err
		}
		begun := cur
		begun.isFree = true
		if _, err := c.moveCursor(ctx, cur, begun); err != nil && !errors.Is(err, ErrUnfinished) {
			return err // of two that write the row, each puts a message
		}
	}
	return c.put(ctx, w)
}

// finds reports whether a walk that no worker has begun may find an item. It reads one page of each part at most: if
// that is all there is, and nothing in it is to be reconciled, there is none.
func (e engine) finds(ctx context.Context, w walk) (bool, error) {
	if isOvertaken, err := e.isOvertaken(ctx, w); err != nil || isOvertaken {
		return false, err
	}
	cur := cursor{key: w.key}
	for range w.parts {
		var err error
		if cur, err = e.readPage(ctx, w, cur); err != nil || len(cur.open) > 0 || cur.after != "" {
			return err == nil, err
		}
	}
	return false, nil
}

// put puts a message for the walk into the queue, under a new name: none is taken for the repetition of another. The
// messages of one user are worked on one after another.
func (e engine) put(ctx context.Context, w walk) error {
	body, err := json.Marshal(job{w.user, w.key.SK})
	if err != nil {
		panic("reminders: " + err.Error()) // two texts always encode
	}
	m := queue.Message{Group: digest(w.user), ID: e.NewID(), Body: body}
	if err := e.Queue.Put(ctx, m); err != nil {
		return fmt.Errorf("set off walk %s: %w", w.key, err)
	}
	return nil
}
