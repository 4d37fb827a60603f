package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
)

//go:embed page.html guides.html docs.css docs.js try.js
var assets embed.FS

// policy lets the page load only the files served beside it, and ask only the system that serves it.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is one part of the page, ready to send.
type file struct {
	contentType string
	content     []byte
}

// New returns a handler of /docs and of the files below it, made from an OpenAPI document.
func New(document []byte) (http.Handler, error) {
	doc, err := parse(document)
	if err != nil {
		return nil, err
	}
	t, err := template.ParseFS(assets, "page.html", "guides.html")
	if err != nil {
		return nil, fmt.Errorf("parse the page's template: %w", err)
	}
	var html bytes.Buffer
	if err := t.Execute(&html, reader{doc}.page()); err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	files := map[string]file{"/docs": {"text/html; charset=utf-8", html.Bytes()}}
	for name, contentType := range map[string]string{
		"docs.css": "text/css; charset=utf-8", "docs.js": "text/javascript; charset=utf-8",
		"try.js": "text/javascript; charset=utf-8",
	} {
		content, err := assets.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read asset %s: %w", name, err)
		}
		files["/docs/"+name] = file{contentType, content}
	}
	return handler(files), nil
}

func handler(files map[string]file) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", f.contentType)
		h.Set("Content-Length", strconv.Itoa(len(f.content)))
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-cache")
		if r.Method != http.MethodHead {
			w.Write(f.content) // an error means that the client has disconnected
		}
	})
}
