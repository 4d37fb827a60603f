package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func serve(t *testing.T, path string, header ...string) *http.Response {
	t.Helper()
	h, err := New()
	require.NoError(t, err)
	request := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, request)
	return rec.Result()
}

func TestNew_servesThePageAtEachPane(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/console", "/console/", "/console/flow", "/console/records"} {
		response := serve(t, path)
		require.Equal(t, http.StatusOK, response.StatusCode, path)
		require.Equal(t, "text/html; charset=utf-8", response.Header.Get("Content-Type"))
		require.Contains(t, response.Header.Get("Content-Security-Policy"), "require-trusted-types-for 'script'")
		require.NotContains(t, response.Header.Get("Content-Security-Policy"), "unsafe")
	}
	require.Equal(t, http.StatusNotFound, serve(t, "/console/files/nothing.js").StatusCode)
	require.Equal(t, http.StatusNotFound, serve(t, "/console/files/../console.go").StatusCode)
	again := serve(t, "/console", "If-None-Match", serve(t, "/console").Header.Get("ETag"))
	require.Equal(t, http.StatusNotModified, again.StatusCode)
	plain, err := io.ReadAll(serve(t, "/console/files/api.js").Body)
	require.NoError(t, err)
	packed := serve(t, "/console/files/api.js", "Accept-Encoding", "gzip, br")
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	require.Less(t, packed.ContentLength, int64(len(plain)))
}

// vendored are the lines of the list of what comes from elsewhere: file, package, its checksum, the file's.
func vendored(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("vendored.txt")
	require.NoError(t, err)
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		require.Len(t, fields, 4)
		require.Regexp(t, `^sha512-`, fields[2])
		sums["page/vendored/"+fields[0]] = fields[3]
	}
	return sums
}

func TestPage_hasTheFilesThatTheListSays(t *testing.T) {
	t.Parallel()
	listed := vendored(t)
	require.NoError(t, fs.WalkDir(page, "page/vendored", func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() {
			return nil
		}
		content, err := page.ReadFile(name)
		require.NoError(t, err)
		sum := sha256.Sum256(content)
		require.Equal(t, listed[name], hex.EncodeToString(sum[:]), "%s: make vendor", name)
		delete(listed, name)
		return nil
	}))
	require.Empty(t, listed)
}

// The bounds of the page's weight, compressed.
const (
	maxOwn      = 90 << 10
	maxVendored = 35 << 10
	maxAll      = 150 << 10
)

func TestPage_isLight(t *testing.T) {
	t.Parallel()
	own, others := 0, 0
	require.NoError(t, fs.WalkDir(page, "page", func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() || strings.HasSuffix(name, ".LICENSE") {
			return nil
		}
		content, err := page.ReadFile(name)
		require.NoError(t, err)
		one, err := newFile(name, content)
		require.NoError(t, err)
		if strings.Contains(name, "/vendored/") {
			others += len(one.gz)
		} else {
			own += len(one.gz)
		}
		return nil
	}))
	t.Logf("compressed: %d bytes of its own, %d vendored", own, others)
	require.LessOrEqual(t, own, maxOwn)
	require.LessOrEqual(t, others, maxVendored)
	require.LessOrEqual(t, own+others, maxAll)
}

// What the policy forbids would only be seen in a browser, and on the path where it happens.
var forbidden = regexp.MustCompile(`innerHTML|outerHTML|dangerouslySetInnerHTML|insertAdjacentHTML|document\.write|` +
	`\beval\(|new Function|https?://[a-z]`)

func TestPage_makesNoMarkupOfTextsAndKnowsPathsInOneModule(t *testing.T) {
	t.Parallel()
	require.NoError(t, fs.WalkDir(page, "page", func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() || strings.Contains(name, "/vendored/") || strings.HasSuffix(name, ".svg") {
			return nil
		}
		content, err := page.ReadFile(name)
		require.NoError(t, err)
		require.Empty(t, forbidden.FindAll(content, -1), name)
		require.False(t, name != "page/api.js" && bytes.Contains(content, []byte(`"/dev/`)), "%s names a path", name)
		return nil
	}))
}
