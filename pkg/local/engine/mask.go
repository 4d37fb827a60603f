package engine

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"nexus/pkg/item"
)

const (
	// maskedAtOnce is the number of records that one transaction masks, so that the engine's writes wait for a moment.
	maskedAtOnce = 200
	// compactFile says, beside the engine's file, that the file has free pages with what was masked or deleted.
	compactFile = "compact"
)

// Mask replaces the records of the partitions for which insteadOf returns a key, by inserts of that key alone. So the
// stream keeps its order and its end, and no word of the rows. It returns how many it replaced. A reader that has read
// a record before keeps it.
func (e *Engine) Mask(
	ctx context.Context, table string, insteadOf func(partition string) (item.Key, bool),
) (masked int, err error) {
	db, err := openFile(filepath.Join(e.dir, dataFile))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // so that the pragma holds for all that follows
	if _, err := db.ExecContext(ctx, "PRAGMA secure_delete = ON"); err != nil {
		return 0, fmt.Errorf("mask the stream: %w", err)
	}
	partitions, err := texts(ctx, db,
		`SELECT DISTINCT json_extract(keys_json, '$.PK.S') FROM _stream_records WHERE table_name = ?`, table)
	if err != nil {
		return 0, fmt.Errorf("mask the stream: %w", err)
	}
	instead := map[string]item.Key{}
	for _, partition := range partitions {
		if key, masks := insteadOf(partition); masks {
			instead[partition] = key
		}
	}
	if len(instead) == 0 {
		return 0, nil
	}
	if err := os.WriteFile(filepath.Join(e.dir, compactFile), nil, 0o600); err != nil {
		return 0, err
	}
	for partition, key := range instead {
		n, err := mask(ctx, db, table, partition, key)
		if masked += n; err != nil {
			return masked, fmt.Errorf("mask the stream: %w", err)
		}
	}
	return masked, nil
}

// mask masks the records of one partition that are not yet.
func mask(ctx context.Context, db *sql.DB, table, partition string, key item.Key) (int, error) {
	type text struct{ S string }
	bare, err := json.Marshal(map[string]text{item.AttrPK: {key.PK}, item.AttrSK: {key.SK}})
	if err != nil {
		return 0, err
	}
	ids, err := texts(ctx, db, `SELECT id FROM _stream_records WHERE table_name = ?
		AND json_extract(keys_json, '$.PK.S') = ? AND (old_image IS NOT NULL OR new_image IS NOT ?)`,
		table, partition, string(bare))
	if err != nil {
		return 0, err
	}
	for some := range slices.Chunk(ids, maskedAtOnce) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		for _, id := range some {
			_, errOne := tx.ExecContext(ctx, `UPDATE _stream_records SET event_name = 'INSERT', keys_json = ?, new_image = ?,
				old_image = NULL, user_identity = NULL WHERE id = ?`, string(bare), string(bare), id)
			err = errors.Join(err, errOne)
		}
		if err != nil {
			return 0, errors.Join(err, tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

// texts returns the one column of a query's rows.
func texts(ctx context.Context, db *sql.DB, query string, args ...any) (all []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// compact rewrites the file without its free pages if an erasure has left some. No engine may run.
func compact(ctx context.Context, dir string) (err error) {
	marker := filepath.Join(dir, compactFile)
	if _, err := os.Stat(marker); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	db, err := openFile(filepath.Join(dir, dataFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("compact the engine's file: %w", err)
		}
	}
	return os.Remove(marker)
}
