package engine

import (
	"context"
	"fmt"
	"time"
)

// busyBound is how long work on the file waits for the engine to finish a write of its own.
const busyBound = 10 * time.Second

// streamIndexes are what the engine's lookups by sequence number need. Without them each write to a table with a stream
// reads the whole stream, so that writing becomes slower with every write.
var streamIndexes = [...]string{
	`CREATE INDEX IF NOT EXISTS nexus_stream_by_sequence
		ON _stream_records (table_name, CAST(sequence_number AS INTEGER))`,
	`CREATE INDEX IF NOT EXISTS nexus_stream_by_shard
		ON _stream_records (table_name, shard_id, CAST(sequence_number AS INTEGER))`,
}

// addStreamIndexes adds the indexes to the file of an engine that runs: the engine makes the table of stream records
// when it first opens the file, and takes notice of a changed schema by itself.
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
