package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"modernc.org/sqlite" // it also registers the driver "sqlite"
)

// ErrDamaged says that a file of the data directory can no longer be read. The error names the file and the remedy.
var ErrDamaged = errors.New("is damaged")

// Damaged returns an ErrDamaged about the file.
func Damaged(file string, cause error, whatToDo string) error {
	return fmt.Errorf("%s %w: %w. %s", file, ErrDamaged, cause, whatToDo)
}

// checkBound bounds the check of the file before a start. It takes about a second for each gigabyte, and more on a
// slow disk.
const checkBound = 2 * time.Minute

// maxFindings bounds what a check reports.
const maxFindings = 3

const restoreCopy = "Put a copy of its directory back, or move the data directory away to begin with an empty table; " +
	"a copy may be older than the other files: the start notices and corrects that"

// checkFile checks each page of the engine's file before an engine starts. An engine that reads a damaged page later
// ends in the middle of its work. A missing file is a new one.
func checkFile(ctx context.Context, file string) error {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkBound)
	defer cancel()
	findings, err := quickCheck(ctx, file)
	var wrong *sqlite.Error
	switch {
	case errors.As(err, &wrong) && saysDamaged(wrong.Code()):
		return Damaged(file, err, restoreCopy)
	case err != nil:
		return fmt.Errorf("look at the engine's file %s: %w", file, err)
	case len(findings) > 0:
		return Damaged(file, errors.New(strings.Join(findings, "; ")), restoreCopy)
	}
	return nil
}

// saysDamaged recognises the database's result codes SQLITE_CORRUPT and SQLITE_NOTADB, without their extensions.
func saysDamaged(code int) bool {
	const corrupt, notADatabase, primary = 11, 26, 0xff
	return code&primary == corrupt || code&primary == notADatabase
}

// quickCheck returns the faults of the file's pages.
func quickCheck(ctx context.Context, file string) (findings []string, err error) {
	db, err := openFile(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, fmt.Sprintf("PRAGMA quick_check(%d)", maxFindings))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var finding string
		if err := rows.Scan(&finding); err != nil {
			return nil, err
		}
		if finding != "ok" {
			findings = append(findings, strings.Join(strings.Fields(finding), " "))
		}
	}
	return findings, rows.Err()
}

// openFile opens the engine's file beside an engine, or before one.
func openFile(file string) (*sql.DB, error) {
	source := (&url.URL{Scheme: "file", Path: file, RawQuery: url.Values{
		"mode":    {"rw"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyBound.Milliseconds())},
	}.Encode()}).String()
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, fmt.Errorf("open the engine's file %s: %w", file, err)
	}
	return db, nil
}
