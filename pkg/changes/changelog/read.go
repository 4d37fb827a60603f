package changelog

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/table"
)

// Newest is the number of rows that a writer compares its entries with, and the first page of most readers.
const Newest = 16

// maxPage bounds the rows of one page; one of full rows ends at 1 MB before it.
const maxPage = 512

// Read describes a read of a user's log.
type Read struct {
	User string
	// From is the number of the first row to read, upwards. 0 reads downwards from the newest row on.
	From int64
	// Page is the number of rows of the first page; each further page has twice as many. 0 is [Newest]. A reader that
	// needs one row asks for one: a page is paid for whole.
	Page int
	// Eventual makes the read eventually consistent, at half the price.
	Eventual bool
	// OpenUntil, if set, gets the instant until which an app of the user is open, before the first row; the zero time is
	// no app. Only a read downwards meets the watch that says so: it sorts behind the newest row, and has no price of its
	// own.
	OpenUntil *time.Time
}

// Rows reads the log's rows one by one, until the caller has enough: by number, entries or [Row.Size]. A caller that
// breaks off at the last row of a page pays for no other page. The error of a damaged row wraps [ErrRow] and comes with
// what could be read of it; the rows go on behind it. Any other error comes last and is the store's.
func Rows(ctx context.Context, store table.Reader, read Read) iter.Seq2[Row, error] {
	watch := device.WatchKey(read.User)
	q := table.Query{
		Partition: entity.UserPK(read.User), Range: table.Range{
			From: device.ChangeKey(read.User, max(read.From, 1)).SK, To: device.ChangeKey(read.User, MaxRow).SK,
		},
		Limit: cmp.Or(read.Page, Newest), Descending: read.From == 0, Eventual: read.Eventual,
	}
	if read.OpenUntil != nil {
		q.Range.To = watch.SK
		q.Limit++
	}
	return func(yield func(Row, error) bool) {
		if read.OpenUntil != nil {
			*read.OpenUntil = time.Time{}
		}
		for q := q; ; q.Limit = min(2*q.Limit, maxPage) {
			page, err := store.Query(ctx, q)
			if err != nil {
				yield(Row{}, fmt.Errorf("change log of %s: %w", entity.UserPK(read.User), err))
				return
			}
			for _, it := range page.Items {
				if it.Key() == watch {
					*read.OpenUntil = time.Unix(it.Int(entity.AttrTTL), 0) // of a watch without a ttl in 1970
					continue
				}
				if !yield(ParseRow(it)) {
					return
				}
			}
			if len(page.Next) == 0 {
				return
			}
			q.Start = page.Next
		}
	}
}
