package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

// index is the file of a database that the scanner reads first (https://go.dev/doc/security/vuln/database).
const index = "/index/db.json.gz"

// reach returns an error unless the database answers in time.
func reach(ctx context.Context, database string, limit time.Duration) error {
	if folder, isLocal := strings.CutPrefix(database, "file://"); isLocal {
		_, err := os.ReadDir(folder)
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(database, "/")+index, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err // it names the address
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", request.URL, answer.Status)
	}
	return nil
}
