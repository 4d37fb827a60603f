package revision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Attributes and states of a draft.
const (
	attrStartedAt = "startedAt"

	draftOpen   = "OPEN"   // its writer is at work, or has died
	draftSealed = "SEALED" // it can no longer be published
	draftPruned = "PRUNED" // it was in the log until startedAt, and readers may still be at its rows
)

// announce puts the draft of a snapshot whose rows are about to be written.
func (p *Publisher) announce(ctx context.Context, one *Prepared) error {
	row := one.at.DraftKey(one.commit.RevID).Item()
	row[entity.AttrStatus] = item.String(draftOpen)
	row[attrStartedAt] = item.String(item.FormatInstant(p.now()))
	row[attrRows] = item.Int(int64(len(one.rows)))
	err := p.store.Put(ctx, table.Put{Item: row, If: table.NotExists()})
	var failed *table.ConditionError
	if errors.As(err, &failed) && failed.Failures[0].Old.Equal(row) {
		return nil // the store's client repeated a write whose answer was lost
	}
	if err != nil {
		return fmt.Errorf("announce revision %s of %s: %w", one.commit.RevID, one.at, err)
	}
	return nil
}

// loadInTransactions replaces [table.Writer]'s Load; see [Config].
func (p *Publisher) loadInTransactions(ctx context.Context, rows []item.Item) error {
	for chunk := range slices.Chunk(rows, table.MaxActions) {
		actions := make([]table.Action, len(chunk))
		for i, row := range chunk {
			actions[i] = table.Put{Item: row}
		}
		if err := p.store.Transact(ctx, actions...); err != nil {
			return err
		}
	}
	return nil
}

// takeDraft deletes a draft with its publication, unless it is sealed.
func (p *Prepared) takeDraft() table.Delete {
	return table.Delete{
		Key: p.at.DraftKey(p.commit.RevID),
		If:  table.Exists(table.Equal(entity.AttrStatus, item.String(draftOpen))),
	}
}

// discard removes the rows of a revision that was never committed and returns their number. It seals the draft first:
// without an open draft no snapshot is published, however late its writer continues. It deletes the draft itself only
// if forget says that no more rows will come.
func (p *Publisher) discard(ctx context.Context, at repository.Address, revID string, forget bool) (int, error) {
	key := at.DraftKey(revID)
	_, err := p.store.Update(ctx, table.Update{
		Key: key, Set: item.Item{entity.AttrStatus: item.String(draftSealed)}, If: table.Exists(),
	})
	var failed *table.ConditionError
	if err != nil && !errors.As(err, &failed) {
		return 0, fmt.Errorf("seal draft %s: %w", key, err)
	}
	return p.clear(ctx, at, revID, forget)
}

// clear removes the rows of a revision that can no longer be published, and its draft if forget says so.
func (p *Publisher) clear(ctx context.Context, at repository.Address, revID string, forget bool) (int, error) {
	// A missing draft was published or forgotten; the log shows which.
	switch entry, err := table.Find(ctx, p.store, at.LogKey(revID)); {
	case err != nil:
		return 0, err
	case entry != nil:
		return 0, fmt.Errorf("revision %s of %s: %w", revID, at, ErrCommitted)
	}
	removed, err := p.erase(ctx, at.SnapshotPK(revID))
	if err != nil || !forget {
		return removed, err
	}
	if err := p.store.Delete(ctx, table.Delete{Key: at.DraftKey(revID)}); err != nil {
		return removed, fmt.Errorf("delete draft %s: %w", at.DraftKey(revID), err)
	}
	return removed, nil
}

// erase removes all rows of a partition.
func (p *Publisher) erase(ctx context.Context, partition string) (int, error) {
	rows, err := p.rows(ctx, table.Query{Partition: partition})
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", partition, err)
	}
	removed := 0
	for chunk := range slices.Chunk(rows, table.MaxActions) {
		actions := make([]table.Action, len(chunk))
		for i, row := range chunk {
			actions[i] = table.Delete{Key: row.Key()}
		}
		if err := p.store.Transact(ctx, actions...); err != nil {
			return removed, fmt.Errorf("remove rows of %s: %w", partition, err)
		}
		removed += len(chunk)
	}
	return removed, nil
}

// rows reads a query's answer over all its pages.
func (p *Publisher) rows(ctx context.Context, q table.Query) ([]item.Item, error) {
	var rows []item.Item
	for {
		page, err := p.store.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		rows = append(rows, page.Items...)
		if len(page.Next) == 0 {
			return rows, nil
		}
		q.Start = page.Next
	}
}

// draft is a draft as it was read.
type draft struct {
	at        repository.Address
	revID     string
	status    string
	startedAt time.Time
}

// orphan returns the snapshot that the draft announces, with so many rows.
func (d draft) orphan(rows int) Orphan {
	return Orphan{d.at, d.revID, d.startedAt, rows, d.status == draftPruned}
}

// readDraft reads a draft. If its time is damaged, that of the revision's id takes its place.
func readDraft(row item.Item) (draft, error) {
	parsed, err := repository.ParseRow(row.Key())
	if err != nil || parsed.Kind != repository.DraftRow {
		return draft{}, fmt.Errorf("draft %s: no draft's key", row.Key())
	}
	started, ok := row.Time(attrStartedAt)
	if !ok {
		if started, err = repository.RevisionTime(parsed.RevisionID); err != nil {
			return draft{}, fmt.Errorf("draft %s: %s is no instant: %w", row.Key(), attrStartedAt, err)
		}
	}
	return draft{parsed.Repository, parsed.RevisionID, row.Str(entity.AttrStatus), started}, nil
}
