package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Path is the page's path. Each path below it that is no file is a pane.
const Path = "/console"

// files is the path of the page's files.
const files = Path + "/files/"

//go:embed page
var page embed.FS

// policy lets the page load the files served beside it and ask the system that serves it, and nothing else. Stored
// titles are texts of strangers: no text becomes markup or script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// file is one part of the page, ready to send.
type file struct {
	media, tag string
	plain, gz  []byte
}

// New returns a handler of [Path] and everything below it.
func New() (http.Handler, error) {
	all := map[string]file{}
	err := fs.WalkDir(page, "page", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := page.ReadFile(name)
		if err != nil {
			return err
		}
		one, err := newFile(name, content)
		all[strings.TrimPrefix(name, "page/")] = one
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the console's files: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the console is read", http.StatusMethodNotAllowed)
			return
		}
		name, isFile := strings.CutPrefix(r.URL.Path, files)
		if !isFile {
			name = "index.html"
		}
		one, ok := all[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		one.send(w, r)
	}), nil
}

func newFile(name string, content []byte) (file, error) {
	var packed bytes.Buffer
	to, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return file{}, err
	}
	if _, err := to.Write(content); err != nil {
		return file{}, err
	}
	if err := to.Close(); err != nil {
		return file{}, err
	}
	sum := sha256.Sum256(content)
	media := map[string]string{
		".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8",
		".svg": "image/svg+xml",
	}[path.Ext(name)]
	if media == "" {
		media = mime.TypeByExtension(path.Ext(name))
	}
	return file{media, `"` + hex.EncodeToString(sum[:12]) + `"`, content, packed.Bytes()}, nil
}

func (f file) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", f.tag)
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body = f.gz
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", f.media)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		w.Write(body) // an error means that the client has disconnected
	}
}
