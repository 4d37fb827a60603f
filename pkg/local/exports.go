package local

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/system"
)

const (
	// exportPause is the pause between two looks for exports that are not finished.
	exportPause = time.Minute
	// linksPath begins the addresses of files. It is no part of the API, and asks for no user: the address says enough.
	linksPath = "/files/"
	// linkKeyBytes is the length of the key that signs addresses.
	linkKeyBytes = 32

	paramUntil     = "until"
	paramFile      = "file"
	paramSignature = "signature"
)

// exportDriver carries out exports, one at a time.
type exportDriver struct {
	poked chan struct{}
	links links
}

func (p *Platform) newExports() exportDriver {
	key := make([]byte, linkKeyBytes)
	_, _ = rand.Read(key) // it never fails (crypto/rand)
	return exportDriver{make(chan struct{}, 1), links{key, p}}
}

// exporting returns the ports of exports. One worker lives, so that none is waited for.
func (p *Platform) exporting() *system.Exports {
	return &system.Exports{Objects: p.blobs, Links: p.exports.links, Wake: p.exports.wake, Clock: time.Now}
}

// wake makes the worker look again.
func (d *exportDriver) wake() {
	select {
	case d.poked <- struct{}{}:
	default: // a look is already pending
	}
}

// runExports carries out exports until the context ends.
func (p *Platform) runExports(ctx context.Context) {
	for ctx.Err() == nil {
		moved := p.clock.Moved()
		if err := p.export(ctx); err != nil && ctx.Err() == nil {
			p.log.Warn("an export is not finished; it goes on later", "error", err)
		}
		waitFor(ctx, exportPause, moved, p.exports.poked, nil)
	}
}

// export works on all exports. An erasure waits until it has ended.
func (p *Platform) export(ctx context.Context) error {
	defer p.others.begin()()
	p.exporter.Lock()
	defer p.exporter.Unlock()
	return p.system.Exporter.Run(ctx)
}

// links makes signed addresses of objects, as a presigned one of S3 is. They end with the platform.
type links struct {
	key []byte
	p   *Platform
}

var _ blob.Linker = links{}

// Link implements the port: an address relative to that of the API.
func (l links) Link(
	_ context.Context, name, file string, lifetime time.Duration,
) (address string, until time.Time, err error) {
	if err := blob.CheckName(name); err != nil {
		return "", until, fmt.Errorf("link to object %q: %w", name, err)
	}
	until = l.p.clock.Now().Add(lifetime).UTC().Truncate(time.Second)
	seconds := strconv.FormatInt(until.Unix(), 10)
	query := url.Values{
		paramUntil: {seconds}, paramFile: {file}, paramSignature: {l.signature(name, file, seconds)},
	}
	return linksPath + name + "?" + query.Encode(), until, nil
}

func (l links) signature(name, file, until string) string {
	sum := hmac.New(sha256.New, l.key)
	sum.Write([]byte(strings.Join([]string{name, file, until}, "\n"))) // no part has a line feed that is accepted
	return hex.EncodeToString(sum.Sum(nil))
}

// getFile answers with the object of a signed address.
func (l links) getFile(w http.ResponseWriter, r *http.Request) {
	name, query := r.PathValue("name"), r.URL.Query()
	until, err := strconv.ParseInt(query.Get(paramUntil), 10, 64)
	signed := l.signature(name, query.Get(paramFile), query.Get(paramUntil))
	switch {
	case err != nil || blob.CheckName(name) != nil || !hmac.Equal([]byte(signed), []byte(query.Get(paramSignature))):
		refuseWith(w, &devProblem{http.StatusForbidden, "the address is not signed"})
		return
	case !l.p.clock.Now().Before(time.Unix(until, 0)):
		refuseWith(w, &devProblem{http.StatusForbidden, "the address has ended: ask for another one"})
		return
	}
	in, err := l.p.blobs.Open(r.Context(), name)
	if errors.Is(err, blob.ErrNotFound) {
		refuseWith(w, &devProblem{http.StatusNotFound, "there is no such file any more"})
		return
	}
	if err != nil {
		l.p.refuse(w, r, err)
		return
	}
	defer func() { _ = in.Close() }() // all that is wanted of it was read
	h := w.Header()
	h.Set("Content-Type", zipMedia)
	h.Set("Content-Disposition", "attachment; filename="+strconv.Quote(query.Get(paramFile)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if _, err := io.Copy(w, in); err != nil && r.Context().Err() == nil {
		l.p.log.Warn("a file was not sent to its end", "error", err)
	}
}
