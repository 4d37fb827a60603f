// Package changes keeps a log of each user's changes, by which a device that has been offline is brought up to date.
// A row of the log names things and how far they have come, never content (package changelog).
//
// For each user in a batch the consumer takes these steps:
//
//  1. It keeps the greatest entry of each thing.
//  2. It reads the newest rows of the log consistently, and leaves out what stands there at that entry or above. A
//     record that is more than an hour old is compared with all rows since its own time.
//  3. It puts the next row under the condition that there is no row. If another writer was faster, it goes on with
//     step 2.
//
// Repeating a record is safe: an entry only says how far a thing has come at least, so it may stand in the log twice,
// and by step 2 it rarely does. A row whose answer was lost is found in step 2 by its entries. The order of records
// does not matter, because a reader serves each thing as it is now. Two workers cannot use one number, and neither can
// lose the other's row, because a row is never put where there is one. A release that has no log loses nothing of a log
// but its entries; the operator then raises the form of the feed.
//
// The consumer must never write a row from an eventually consistent read, and never leave out the mark "first" where
// rows may be lost: there is no row, or the newest one is old.
package changes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/port"
	"nexus/pkg/table"
)

// Name is the consumer's name.
const Name = "changes"

// UsersAtOnce is [Config.AtOnce] where requests take time: the log of each user takes two.
const UsersAtOnce = 16

const (
	// maxRounds bounds the attempts of one call to append for a user, if other writers are faster.
	maxRounds = 5
	// lateAfter is the age from which a record may be in a row before the newest ones.
	lateAfter = time.Hour
	// clockSkew is by how much the time of a record may be ahead of the clock that dated its row.
	clockSkew = time.Minute
)

var errContended = errors.New("other writers kept appending to the change log")

// Config holds the dependencies of the consumer. Store, Now and Random are required.
type Config struct {
	Store table.Store
	Now   func() time.Time
	// Random gives the bits that distinguish a row. It is safe for concurrent use if AtOnce is above 1.
	Random io.Reader
	// AtOnce is the number of users of a batch whose logs are written at a time; 0 means 1.
	AtOnce int
	// Appended, if set, is called once for each call of Apply that appended rows, with each user concerned.
	Appended func(ctx context.Context, of []Appended)
}

// Appended says what a call appended to a user's log.
type Appended struct {
	User string
	// Rows are the rows in their order; at least one.
	Rows []changelog.Row
	// OpenUntil is the instant until which an app of the user is open, as the read before the last row found it. The zero
	// time is no app.
	OpenUntil time.Time
}

// Count returns the number of entries that were appended.
func Count(of []Appended) int {
	n := 0
	for _, a := range of {
		for _, row := range a.Rows {
			n += len(row.Entries)
		}
	}
	return n
}

// Consumer appends to the logs of the users.
type Consumer struct{ Config }

// New returns the consumer.
func New(cfg Config) *Consumer { return &Consumer{cfg} }

// Name implements [change.Consumer].
func (*Consumer) Name() string { return Name }

// AcceptsBatches implements [change.BatchConsumer]: of the changes of one thing the last counts.
func (*Consumer) AcceptsBatches() {}

// Apply implements [change.Consumer]. The records of one user have one outcome. A record that names nothing of the log
// costs no call.
func (c *Consumer) Apply(ctx context.Context, batch []change.Change) []change.Outcome {
	users := c.gather(batch)
	c.each(users, func(u *userChanges) {
		u.appended, u.err = c.append(ctx, u.user, u.wanted, u.late, &u.openUntil)
	})
	var appended []Appended
	outcomes := make([]change.Outcome, len(batch))
	for _, u := range users {
		if len(u.appended) > 0 {
			appended = append(appended, Appended{u.user, u.appended, u.openUntil})
		}
		u.setOutcomes(outcomes)
	}
	if len(appended) > 0 && c.Appended != nil {
		c.Appended(ctx, appended)
	}
	return outcomes
}

// Announce appends those of the entries that the user's newest rows lack, as [Consumer.Apply] does for records: for a
// repair.
func (c *Consumer) Announce(ctx context.Context, user string, entries []changelog.Entry) error {
	u := userChanges{user: user}
	for _, e := range entries {
		u.want(e)
	}
	_, err := c.append(ctx, user, u.wanted, nil, nil)
	return err
}

// each calls do for each user, for at most AtOnce of them at a time.
func (c *Consumer) each(users []*userChanges, do func(*userChanges)) {
	if c.AtOnce <= 1 || len(users) <= 1 {
		for _, u := range users {
			do(u)
		}
		return
	}
	var wait sync.WaitGroup
	free := make(chan struct{}, c.AtOnce)
	for _, u := range users {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			do(u)
		})
	}
	wait.Wait()
}

// append puts rows until the log has each wanted entry or a greater one. It returns the rows that it put, also with an
// error. Since, if set, is the time from which on rows are compared beyond the newest. OpenUntil is that of
// [changelog.Read].
func (c *Consumer) append(
	ctx context.Context, user string, wanted []changelog.Entry, since, openUntil *time.Time,
) (rows []changelog.Row, err error) {
	for range maxRounds {
		newest, known, err := c.read(ctx, changelog.Read{User: user, OpenUntil: openUntil}, since)
		if err != nil {
			return rows, err
		}
		missing := slices.DeleteFunc(slices.Clone(wanted), func(e changelog.Entry) bool {
			was, isThere := known[e.Ref]
			return isThere && was.Compare(e) >= 0
		})
		put, err := c.put(ctx, user, newest, missing)
		rows = append(rows, put...)
		if failed := (*table.ConditionError)(nil); !errors.As(err, &failed) {
			return rows, err
		}
	}
	return rows, fmt.Errorf("change log of %s: %w", entity.UserPK(user), errContended)
}

// read returns the newest row, and the greatest entry of each thing in the newest rows: [changelog.Newest] of them, and
// all since a time. A row that is damaged counts with what can be read of it.
func (c *Consumer) read(
	ctx context.Context, read changelog.Read, since *time.Time,
) (newest changelog.Row, known map[entity.Ref]changelog.Entry, err error) {
	known = map[entity.Ref]changelog.Entry{}
	rows := 0
	for row, err := range changelog.Rows(ctx, c.Store, read) {
		if err != nil && !errors.Is(err, changelog.ErrRow) {
			return newest, nil, err
		}
		if row.N == 0 {
			continue // under a key that no row of a log has
		}
		newest.N = max(newest.N, row.N)
		if newest.N == row.N {
			newest = row
		}
		for _, e := range row.Entries {
			if was, isThere := known[e.Ref]; !isThere || was.Compare(e) < 0 {
				known[e.Ref] = e
			}
		}
		if rows++; rows >= changelog.Newest && (since == nil || row.At.Before(*since)) {
			break
		}
	}
	return newest, known, nil
}

// put appends the entries behind the newest row, and returns the rows that it put. A [*table.ConditionError] says that
// another writer has appended.
func (c *Consumer) put(
	ctx context.Context, user string, newest changelog.Row, entries []changelog.Entry,
) (rows []changelog.Row, err error) {
	now := c.Now()
	first := newest.N == 0 || newest.Old(now)
	for some := range slices.Chunk(entries, changelog.MaxEntries) {
		var bits [8]byte
		if _, err := io.ReadFull(c.Random, bits[:]); err != nil {
			return rows, fmt.Errorf("random bits of a row: %w", err)
		}
		row := changelog.NewRow(newest.N+int64(len(rows))+1, some, binary.BigEndian.Uint64(bits[:]), first, now)
		if err := c.Store.Put(ctx, table.Put{Item: row.Item(user), If: table.NotExists()}); err != nil {
			return rows, fmt.Errorf("append row %d to the change log of %s: %w", row.N, entity.UserPK(user), err)
		}
		rows, first = append(rows, row), false
	}
	return rows, nil
}

// verdictOf returns the verdict on the records of a user after an error.
func verdictOf(err error) change.Verdict {
	if errors.Is(err, port.ErrInvalid) {
		return change.Poison
	}
	return change.Retry
}
