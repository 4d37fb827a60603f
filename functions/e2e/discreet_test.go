package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// userIDs are the users of all tests, each as a word.
var userIDs = regexp.MustCompile(`(^|[^A-Za-z0-9_-])(` + user + `|ann|bob|user-[0-9]+)($|[^A-Za-z0-9_-])`)

// written are the members of payloads, and the attributes of rows, that hold what users wrote.
var written = []string{"title", "body", "notes", "description", "location", "tags", "message"}

// wordsOfUsers returns what no log may have beside ids: each text that a payload of events/ has of a user, the secret
// of the other tests, and the user's id in the forms of cursors and addresses.
var wordsOfUsers = sync.OnceValues(func() ([]string, error) {
	words := []string{
		secret, base64.RawURLEncoding.EncodeToString([]byte(user)), base64.StdEncoding.EncodeToString([]byte(user)),
	}
	paths, err := filepath.Glob(filepath.Join("..", "..", "events", "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, ".schema.json") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var payload any
		if err := json.Unmarshal(text, &payload); err != nil {
			return nil, err
		}
		words = append(words, textsIn(payload, false)...)
	}
	slices.Sort(words)
	return slices.Compact(words), nil
})

// textsIn returns the texts of users in a part of a payload: all of it, or those of certain members.
func textsIn(part any, all bool) (out []string) {
	switch part := part.(type) {
	case map[string]any:
		for name, member := range part {
			out = append(out, textsIn(member, all || slices.Contains(written, name))...)
		}
	case []any:
		for _, member := range part {
			out = append(out, textsIn(member, all)...)
		}
	case string:
		var inner map[string]any
		if json.Unmarshal([]byte(part), &inner) == nil { // the body of a request
			return textsIn(inner, false)
		}
		if all && len(part) > 3 {
			out = append(out, part)
		}
	}
	return out
}

// requireDiscreet requires that nothing the program has written names a user, or has a word of one.
func (f *function) requireDiscreet() {
	f.Helper()
	words, err := wordsOfUsers()
	require.NoError(f, err)
	for _, out := range []*output{f.log, f.out} {
		for line := range strings.Lines(out.String()) {
			require.NotRegexp(f, userIDs, line, "no log names a user")
			for _, word := range words {
				require.NotContains(f, line, word, "no log has a text of a user")
			}
		}
	}
}

func TestFunctions_haveTextsOfUsersInTheirPayloads(t *testing.T) {
	t.Parallel()
	words, err := wordsOfUsers()
	require.NoError(t, err)
	require.Greater(t, len(words), 15)
	for _, word := range []string{"Choir, large hall", "Töpfe", "dentist"} {
		has := func(text string) bool { return strings.Contains(text, word) }
		require.True(t, slices.ContainsFunc(words, has), "%s in %q", word, words)
	}
}
