package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// pullPause is how long a device waits between two pulls of a load.
const pullPause = 20 * time.Millisecond

// thing is one entry of an answer of GET /v1/changes, and one of a device's copy.
type thing struct {
	Type    string         `json:"type"`
	ID      string         `json:"id"`
	Version int64          `json:"version"`
	Gone    bool           `json:"gone"`
	Omitted bool           `json:"omitted"`
	Expires string         `json:"expiresAt"`
	Item    map[string]any `json:"item"`
}

func (th thing) node() string { return th.Type + "#" + th.ID }

// page is an answer of GET /v1/changes: of a snapshot, or of what came after a token.
type page struct {
	Items   []thing `json:"items"`
	Changes []thing `json:"changes"`
	Cursor  string  `json:"cursor"`
	Next    string  `json:"next"`
	More    bool    `json:"more"`
}

// device holds a copy of its user's data, by docs/sync.md alone. It dies between pages by chance: what the page
// brought is lost, and the next pull begins from what was stored.
type device struct {
	client
	rand  *rand.Rand
	copy  map[string]thing
	token string

	pulls, deaths, snapshots, received, checks int
}

func newDevice(c client, seed uint64) *device {
	return &device{client: c, rand: rand.New(rand.NewPCG(seed, 0)), copy: map[string]thing{}}
}

// dies reports whether the device dies now.
func (d *device) dies() bool {
	if d.rand.IntN(8) > 0 {
		return false
	}
	d.deaths++
	return true
}

// keep stores one entry: a lower version than the copy's says nothing, and at the same version the later answer counts.
func (d *device) keep(copied map[string]thing, th thing) {
	d.received++
	if held, ok := copied[th.node()]; !ok || th.Version >= held.Version {
		copied[th.node()] = th
	}
}

// ask makes a request of the feed and reads its answer. No status but these is expected of it.
func (d *device) ask(ctx context.Context, query url.Values, out *page) error {
	path := "/v1/changes"
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	got, _, err := d.insist(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return err
	}
	if got.status != http.StatusOK {
		return fmt.Errorf("GET %s of %s: %s", path, d.user, got)
	}
	return decode(got.body, out)
}

// snapshot takes a whole copy and exchanges it for the one there is, at its end.
func (d *device) snapshot(ctx context.Context, mortal bool) error {
	d.snapshots++
	copied, query := map[string]thing{}, url.Values{}
	for {
		var p page
		if err := d.ask(ctx, query, &p); err != nil {
			return err
		}
		if mortal && d.dies() {
			return nil
		}
		for _, th := range p.Items {
			d.keep(copied, th)
		}
		if p.Next != "" {
			d.copy, d.token = copied, p.Next
			return nil
		}
		query.Set("cursor", p.Cursor)
	}
}

// pull brings the copy up to date. A mortal device may die before it stores a page.
func (d *device) pull(ctx context.Context, mortal bool) error {
	d.pulls++
	if d.token == "" {
		if err := d.snapshot(ctx, mortal); err != nil || d.token == "" {
			return err
		}
	}
	for {
		query := url.Values{"since": {d.token}}
		if mortal {
			query.Set("limit", strconv.Itoa(1+d.rand.IntN(20)))
		}
		var p page
		if err := d.ask(ctx, query, &p); err != nil {
			return err
		}
		if mortal && d.dies() {
			return nil
		}
		for _, th := range p.Changes {
			if th.Omitted {
				return fmt.Errorf("%s of %s is left out of a small answer", th.node(), d.user)
			}
			d.keep(d.copy, th)
		}
		if d.token = p.Next; !p.More {
			return nil
		}
	}
}

// follow pulls until the load is over.
func (d *device) follow(ctx context.Context, over *atomic.Bool) error {
	for !over.Load() {
		if err := d.pull(ctx, true); err != nil {
			return err
		}
		timer := time.NewTimer(pullPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	return nil
}

// compare holds the copy against the user's rows, and its digest against that of GET /v1/changes/check. The system
// has settled, and the device has pulled.
func (d *device) compare(rows []row) (differences []string) {
	settings := "USER_META#" + d.user
	want, digest, count := map[string]int64{settings: 0}, [16]byte{}, int64(0)
	for _, r := range rows {
		version, _ := wholeNumber(r, "version") // a row of statistics alone has none
		switch {
		case r.user() != d.user:
		case r.kind() == "USER_META":
			want[settings] = version
		case r.isEntity() && (r.kind() != "INSTANCE" || r["modifiedFields"] != nil):
			want[r.node()] = version
		}
	}
	for node, version := range want {
		if held, ok := d.copy[node]; !ok || held.Gone || held.Version != version {
			differences = append(differences, fmt.Sprintf("copy of %s: %s is at version %d of the table, here %+v", d.user, node,
				version, held))
		}
		count++
		sum := sha256.Sum256([]byte(d.entry(node)))
		for i := range digest {
			digest[i] ^= sum[i]
		}
	}
	for node, held := range d.copy {
		if _, ok := want[node]; !ok && !held.Gone {
			differences = append(differences, fmt.Sprintf("copy of %s: %s is not in the table, here %+v", d.user, node, held))
		}
	}
	got, err := d.call(d.system.t.Context(), request{method: http.MethodGet, path: "/v1/changes/check"})
	if err != nil || got.status == http.StatusTooManyRequests { // one a minute
		return differences
	}
	d.checks++
	check, sum := got.object(), hex.EncodeToString(digest[:])
	if counted, _ := wholeNumber(check, "count"); counted != count || check["digest"] != sum {
		differences = append(differences, fmt.Sprintf("check of %s is %s, the copy has %d with %s", d.user, got, count, sum))
	}
	return differences
}

// entry is the text of a thing of the copy whose digest counts.
func (d *device) entry(node string) string {
	held := d.copy[node]
	text := fmt.Sprintf("%s %s %d", held.Type, held.ID, held.Version)
	if held.Expires != "" {
		text += "!"
	}
	return text
}
