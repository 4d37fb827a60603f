package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"
)

// traces are the ways in which a name may stand in a file.
func traces(name string) map[string]string {
	return map[string]string{
		"as it is": name, "in base64url": base64.RawURLEncoding.EncodeToString([]byte(name)),
		"in hexadecimal": hex.EncodeToString([]byte(name)), "backwards": string(reversed([]byte(name))),
	}
}

func reversed(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		out[len(b)-1-i] = c
	}
	return out
}

// engineFile is the file of the engine. While it is open, its free pages may have what was erased (docs/privacy.md).
// SQLite then keeps parts of it beside it.
const engineFile = "engine/dynamodb.sqlite"

// requireNoTrace requires that nothing of a user is found.
func (s *system) requireNoTrace(l *life, others []*life, running bool) (files int) {
	s.t.Helper()
	files, found := s.search(l, others, running)
	require.Empty(s.t, found, "traces of %s", l.user)
	return files
}

// search looks for the id and the word of a user in every file of the system, in the names of files and in the log. If
// the system runs, it also looks in each row of the table and its indexes, and in all that /dev/ shows. Ids of other
// users that contain this one's are no trace. The engine's file splits ids over pages, and overwrites them in part:
// beside such a user it is searched for the word alone.
func (s *system) search(l *life, others []*life, running bool) (files int, found []string) {
	s.t.Helper()
	find := func(where string, content []byte) {
		names := map[string]string{"word": l.word, "id": l.user}
		for _, other := range others {
			if strings.Contains(other.user, l.user) {
				content = bytes.ReplaceAll(content, []byte(other.user), nil)
				if where == engineFile {
					delete(names, "id")
				}
			}
		}
		for what, name := range names {
			for how, trace := range traces(name) {
				if bytes.Contains(content, []byte(trace)) {
					found = append(found, fmt.Sprintf("%s: the %s %s: %s", where, what, how, around(content, trace)))
				}
			}
		}
	}
	err := filepath.WalkDir(s.data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.data, path)
		if err != nil {
			return err
		}
		find("the name of a file", []byte(name))
		if entry.IsDir() || running && strings.HasPrefix(name, engineFile) {
			return nil
		}
		content, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil // files of the moment
		}
		if err != nil {
			return err
		}
		files++
		find(name, content)
		return nil
	})
	require.NoError(s.t, err)
	find("the log", []byte(s.process().stderr.text()))
	if running {
		for name, rows := range s.everyRow() {
			find(name, []byte(rows))
		}
		for _, at := range []string{
			"/dev/events?limit=1000", "/dev/schedules?limit=1000", "/dev/walks", "/dev/parked", "/dev/blobs", "/dev/lag",
			"/dev/metrics", "/dev/records?all=true",
		} {
			got := s.anonymous().do(http.StatusOK, request{method: http.MethodGet, path: at})
			find(at, got.body)
		}
	}
	return files, found
}

// around shows what stands beside a trace.
func around(content []byte, trace string) string {
	at := bytes.Index(content, []byte(trace))
	if at < 0 {
		return ""
	}
	return strings.ToValidUTF8(string(content[max(0, at-200):min(len(content), at+200)]), "?")
}

// everyRow is the text of all rows of the table and of its indexes.
func (s *system) everyRow() map[string]string {
	s.t.Helper()
	db, table := s.straight()
	out := map[string]string{}
	for _, index := range append([]string{""}, s.indexes()...) {
		in := &dynamodb.ScanInput{TableName: &table}
		if index != "" {
			in.IndexName = aws.String(index)
		}
		var text strings.Builder
		for pages := dynamodb.NewScanPaginator(db, in); pages.HasMorePages(); {
			page, err := pages.NextPage(s.t.Context())
			require.NoError(s.t, err)
			for _, item := range page.Items {
				r := row{}
				for name, v := range item {
					r[name] = plain(s.t, v)
				}
				text.WriteString(r.String() + "\n")
			}
		}
		out["the table, index "+index] = text.String()
	}
	return out
}

func (s *system) indexes() []string {
	s.t.Helper()
	var out struct {
		Indexes []string `json:"indexes"`
	}
	s.dev(http.MethodGet, "/dev/info", nil, &out)
	return out.Indexes
}

// requireRemains looks for what an erasure leaves, by docs/privacy.md: for 40 days a row without the user, and an
// object.
func (l *life) requireRemains(rows int) {
	s := l.system
	s.t.Helper()
	var objects struct{ Items []string }
	s.dev(http.MethodGet, "/dev/blobs?prefix=erased/", nil, &objects)
	require.Len(s.t, objects.Items, rows, "objects of accounts that were erased")
	for _, r := range s.scan() {
		if name, is := strings.CutPrefix(r.text("PK"), "ERASE#"); is {
			rows--
			require.Equal(s.t, "STATE", r.text("SK"))
			require.Equal(s.t, "erased/"+name, objects.Items[0])
		}
	}
	require.Zero(s.t, rows, "rows of accounts that were erased")
}

// hear gives what happens from now on, line by line, until it is stopped or the system ends.
func (s *system) hear() (lines <-chan string, stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), commandBound)
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url()+"/dev/stream", http.NoBody)
	require.NoError(s.t, err)
	in, err := newHTTP(s.t).Do(ask)
	require.NoError(s.t, err)
	heard := make(chan string)
	go func() {
		defer close(heard)
		all := bufio.NewScanner(in.Body)
		all.Buffer(nil, maxAnswer)
		for all.Scan() {
			select {
			case heard <- all.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return heard, func() {
		cancel()
		require.NoError(s.t, in.Body.Close())
	}
}
