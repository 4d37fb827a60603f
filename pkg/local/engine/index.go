package engine

import (
	"context"
	"fmt"
	"time"
)

// busyBound bounds how long work on the file waits for a write of the engine.
const busyBound = 10 * time.Second

// streamIndexes are indexes for the engine's lookups by sequence number. Without them each write to a table with a
// stream reads the whole stream, so that each write is slower than the last.
var streamIndexes = [...]string{
	`CREATE INDEX IF NOT EXISTS nexus_stream_by_sequence
		ON _stream_records (table_name, CAST(sequence_number AS INTEGER))`,
	`CREATE INDEX IF NOT EXISTS nexus_stream_by_shard
		ON _stream_records (table_name, shard_id, CAST(sequence_number AS INTEGER))`,
}

// addStreamIndexes adds the indexes to the file of a running engine: the engine makes the table of stream records when
// it first opens the file, and detects a changed schema by itself.
func addStreamIndexes(ctx context.Context, file string) (err error) {
	db, err := openFile(file)
	if err != nil {
		return err
	}
	defer func() {
		if errClose := db.Close(); err == nil && errClose != nil {
			err = fmt.Errorf("close the engine's file %s: %w", file, errClose)
		}
	}()
	for _, statement := range streamIndexes {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("index the stream in %s: %w", file, err)
		}
	}
	return nil
}
