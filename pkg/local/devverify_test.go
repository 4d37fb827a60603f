package local_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"nexus/internal/long"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/local"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/verify"
)

// verified returns the answer of POST /dev/verify.
func (s *system) verified(body string) (found map[string]verify.Difference, sum verify.Summary) {
	s.t.Helper()
	response, err := s.client.Post(s.URL()+"/dev/verify", "application/json", strings.NewReader(body))
	require.NoError(s.t, err)
	defer response.Body.Close()
	require.Equal(s.t, http.StatusOK, response.StatusCode)
	found = map[string]verify.Difference{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		var line local.VerifyLine
		require.NoError(s.t, json.Unmarshal(lines.Bytes(), &line))
		require.Empty(s.t, line.Error)
		if line.Difference != nil {
			found[line.Difference.Key] = *line.Difference
		}
		if line.Summary != nil {
			return found, *line.Summary
		}
	}
	s.t.Fatalf("no summary: %v", lines.Err())
	return nil, sum
}

// noteRows are notes of a user, each with a link to the one before, as commands would have written them.
func noteRows(user string, n int) []item.Item {
	t, now := product.Note(), time.Now().UTC()
	var rows []item.Item
	last := ""
	for range n {
		it := item.Item{
			"title": item.String("n"), "body": item.String("b"), "isPinned": item.Bool(false), "status": item.String("ACTIVE"),
		}
		if last != "" {
			entity.SetLinks(it, []entity.Link{{Target: entity.Ref{Type: product.TypeNote, ID: last}}})
		}
		last = "note_" + uuid.NewString()
		rows = append(rows, t.NewItem(user, last, it, now, nil))
	}
	return rows
}

// storeBehind is a store of the platform's table, past the platform.
func (s *system) storeBehind() table.Store {
	s.t.Helper()
	client, done, err := local.NewClient(s.must("GET", "/dev/info", nil)["endpoint"].(string))
	require.NoError(s.t, err)
	s.t.Cleanup(done)
	return dynamo.New(client)
}

// client is one user's program, which reports errors instead of ending the test.
type client struct {
	url, user string
	http      *http.Client
}

func (s *system) newClient(user string) *client {
	c := &client{s.URL(), user, &http.Client{Transport: &http.Transport{}}}
	s.t.Cleanup(c.http.CloseIdleConnections)
	return c
}

// send sends a request; a version of 0 is none.
func (c *client) send(method, path, body string, version int) (object, error) {
	request, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.user)
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	if version > 0 {
		request.Header.Set("If-Match", fmt.Sprintf(`"%d"`, version))
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	out := object{}
	if response.StatusCode != http.StatusNoContent {
		err = json.NewDecoder(response.Body).Decode(&out)
	}
	return out, err
}

// write creates, changes and deletes notes until the context ends, and counts the writes that were acknowledged.
func (c *client) write(ctx context.Context, done *atomic.Int64) error {
	for n := 0; ctx.Err() == nil; n++ {
		note, err := c.send(http.MethodPost, "/v1/notes", `{"title":"w","body":"b"}`, 0)
		if err != nil {
			return err
		}
		path := "/v1/notes/" + note["noteId"].(string)
		if _, err := c.send(http.MethodPatch, path, `{"title":"x"}`, 1); err != nil {
			return err
		}
		done.Add(2)
		if n%3 == 0 {
			if _, err := c.send(http.MethodDelete, path, "", 2); err != nil {
				return err
			}
			done.Add(1)
		}
	}
	return nil
}

func TestPostVerify_repairsADamagedUserWhileClientsWrite(t *testing.T) {
	t.Parallel()
	items, damaged, bogus := 80, 20, 10
	if long.Tests() {
		items = 300
	}
	if os.Getenv("NEXUS_SOAK") != "" {
		items, damaged, bogus = 5000, 200, 50
	}
	s := startSystem(t, local.Options{Ephemeral: true, Settling: 5 * time.Minute})
	store := s.storeBehind()
	rows := noteRows(s.user, items)
	require.NoError(t, store.Load(t.Context(), rows))
	s.waitUntilIdle()

	ctx, stop := context.WithCancel(t.Context())
	clients, writes := errgroup.Group{}, atomic.Int64{}
	for range 4 {
		c := s.newClient(s.user)
		clients.Go(func() error { return c.write(ctx, &writes) })
	}
	named := map[string]bool{}
	spoil := func(key item.Key) {
		named[key.String()] = true
		require.NoError(t, store.Delete(t.Context(), table.Delete{Key: key}))
	}
	edgeOf := func(i int) item.Key {
		return entity.LinkKey(s.user, product.Note().Ref(rows[i]), entity.LinksOf(rows[i])[0].Target)
	}
	for i := 1; i <= damaged; i++ {
		spoil(entity.LedgerKey(s.user, []string{"stats", "links"}[i%2], rows[i].Str("noteId")))
		spoil(edgeOf(i + damaged))
	}
	for i := range bogus {
		row := links.Row(s.user, product.Note().Ref(rows[i+3*damaged]), "NOTE/note_"+uuid.NewString())
		named[row.Key().String()] = true
		require.NoError(t, store.Put(t.Context(), table.Put{Item: row}))
	}
	meta := entity.MetaKey(s.user)
	wrong := product.EmptyStats()
	wrong[product.StatTotalNotes], wrong[product.StatTotalTasks] = item.Int(1_000_000), item.Int(-5)
	_, err := store.Update(t.Context(), table.Update{Key: meta, Set: item.Item{
		product.AttrStats: wrong, product.AttrStatsVersion: item.Int(1_000_000),
	}})
	require.NoError(t, err)

	body := fmt.Sprintf(`{"user":%q}`, s.user)
	began := time.Now()
	found, sum := s.verified(body)
	t.Logf("verified in %v: %+v", time.Since(began), sum)
	for key := range named {
		require.Contains(t, found, key)
	}
	require.Contains(t, found, meta.String())
	require.LessOrEqual(t, len(found), len(named)+1, "nothing else")

	began = time.Now()
	_, sum = s.verified(fmt.Sprintf(`{"user":%q,"repair":true}`, s.user))
	t.Logf("repaired in %v: %+v; %d writes acknowledged during that", time.Since(began), sum, writes.Load())
	require.Zero(t, sum.Remaining)
	stop()
	require.NoError(t, clients.Wait())
	s.waitUntilIdle()
	found, sum = s.verified(body)
	require.Empty(t, found)
	require.Zero(t, sum.Unsettled)

	count := func(prefix string) int {
		n, err := store.Count(t.Context(), table.Query{Partition: entity.UserPK(s.user), Range: table.Range{Prefix: prefix}})
		require.NoError(t, err)
		return n
	}
	require.EqualValues(t, count(entity.ItemPrefix(product.TypeNote)), s.stats()["totalNotes"])
	require.EqualValues(t, 0, s.stats()["totalTasks"])
	require.Equal(t, items-1, count(entity.ItemPrefix(entity.RowLink)))
}

// seenOf holds the statistics that a reader was shown while they were erased and rebuilt.
type seenOf struct {
	between []int64 // numbers of notes that were neither old nor new
	held    time.Duration
}

// watch reads a user's statistics without pause until the context ends.
func watch(ctx context.Context, store table.Store, user string, low, high int64) (seen seenOf, err error) {
	var since time.Time
	for ctx.Err() == nil {
		meta, err := store.Get(context.WithoutCancel(ctx), entity.MetaKey(user))
		if err != nil {
			return seen, err
		}
		if n := meta.Map(product.AttrStats).Int(product.StatTotalNotes); n > low && n < high {
			seen.between = append(seen.between, n)
		}
		switch isHeld := meta.Has(product.AttrStatsHold); {
		case isHeld && since.IsZero():
			since = time.Now()
		case !isHeld && !since.IsZero():
			seen.held, since = max(seen.held, time.Since(since)), time.Time{}
		}
	}
	return seen, nil
}

// comeAndGo creates and deletes notes until the context ends: there is never more than one of them.
func (c *client) comeAndGo(ctx context.Context, done *atomic.Int64) error {
	for ctx.Err() == nil {
		note, err := c.send(http.MethodPost, "/v1/notes", `{"title":"w","body":"b"}`, 0)
		if err != nil {
			return err
		}
		if _, err := c.send(http.MethodDelete, "/v1/notes/"+note["noteId"].(string), "", 1); err != nil {
			return err
		}
		done.Add(2)
	}
	return nil
}

// lags writes notes of a user one by one until the context ends, each when the one before is counted, and returns how
// long the slowest took.
func (c *client) lags(ctx context.Context) (slowest time.Duration, err error) {
	for n := 1; ctx.Err() == nil; n++ {
		if _, err := c.send(http.MethodPost, "/v1/notes", `{"title":"o","body":"b"}`, 0); err != nil {
			return slowest, err
		}
		for since := time.Now(); ; {
			me, err := c.send(http.MethodGet, "/v1/me", "", 0)
			if err != nil {
				return slowest, err
			}
			slowest = max(slowest, time.Since(since))
			if stats, _ := me["stats"].(object); stats != nil && stats["totalNotes"].(float64) >= float64(n) {
				break
			}
		}
	}
	return slowest, nil
}

func TestPostVerify_showsNoPartialNumbersDuringARebuild(t *testing.T) {
	t.Parallel()
	const writers = 2
	items := 60
	if long.Tests() {
		items = 300
	}
	if os.Getenv("NEXUS_SOAK") != "" {
		items = 5000
	}
	s := startSystem(t, local.Options{Ephemeral: true, Settling: 5 * time.Minute})
	store := s.storeBehind()
	require.NoError(t, store.Load(t.Context(), noteRows(s.user, items)))
	s.waitUntilIdle()
	wipe(t, store, s.user)

	ctx, stop := context.WithCancel(t.Context())
	clients, writes, seen, slowest := errgroup.Group{}, atomic.Int64{}, seenOf{}, time.Duration(0)
	for range writers {
		c := s.newClient(s.user)
		clients.Go(func() error { return c.comeAndGo(ctx, &writes) })
	}
	clients.Go(func() (err error) {
		seen, err = watch(ctx, store, s.user, writers, int64(items))
		return err
	})
	other := s.newClient("u2")
	clients.Go(func() (err error) {
		slowest, err = other.lags(ctx)
		return err
	})
	began := time.Now()
	_, sum := s.verified(fmt.Sprintf(`{"user":%q,"repair":true}`, s.user))
	took := time.Since(began)
	stop()
	require.NoError(t, clients.Wait())
	t.Logf(
		"%d items: rebuilt in %v, held for %v; %d writes acknowledged during that; another user's number was %v late at most",
		items, took, seen.held, writes.Load(), slowest)
	require.Zero(t, sum.Remaining)
	require.Empty(t, seen.between, "half-built numbers")
	require.NotZero(t, seen.held)
	require.Less(t, slowest, 30*time.Second)

	s.waitUntilIdle()
	found, sum := s.verified(`{}`)
	require.Empty(t, found)
	require.Zero(t, sum.Unsettled)
	require.EqualValues(t, items, s.stats()["totalNotes"])
}

// wipe takes away everything that projections made of a user's items.
func wipe(t *testing.T, store table.Store, user string) {
	t.Helper()
	for _, prefix := range []string{entity.ItemPrefix(entity.RowLedger), entity.ItemPrefix(entity.RowLink)} {
		q := table.Query{Partition: entity.UserPK(user), Range: table.Range{Prefix: prefix}}
		for {
			page, err := store.Query(t.Context(), q)
			require.NoError(t, err)
			for chunk := range slices.Chunk(page.Items, table.MaxActions) {
				var gone []table.Action
				for _, row := range chunk {
					gone = append(gone, table.Delete{Key: row.Key()})
				}
				require.NoError(t, store.Transact(t.Context(), gone...))
			}
			if q.Start = page.Next; len(page.Next) == 0 {
				break
			}
		}
	}
	_, err := store.Update(t.Context(), table.Update{
		Key: entity.MetaKey(user), Set: item.Item{product.AttrStats: product.EmptyStats()},
	})
	require.NoError(t, err)
}

func TestPostVerify_refusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	for body, status := range map[string]int{`{"user":"a#b"}`: 422, `{"users":"a"}`: 400, `[]`: 400, ``: 400} {
		response, err := s.client.Post(s.URL()+"/dev/verify", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, status, response.StatusCode, body)
	}
}
