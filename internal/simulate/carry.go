package simulate

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/blob"
	blobmemory "nexus/pkg/blob/memory"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/queue"
	queuememory "nexus/pkg/queue/memory"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/transfer"
	"nexus/pkg/verify"
)

// moved is the name of a user in the deployment that takes the account in.
const moved = "zoe"

// elsewhere is another deployment: the same product on ports of its own, whose consumers take what is written.
type elsewhere struct {
	store  *memory.Store
	system *system.System
	loop   *consume.Loop
	walks  *queuememory.Queue
	stream *stream
}

func (h *history) elsewhere() *elsewhere {
	now := func() time.Time { return h.now }
	e := &elsewhere{store: memory.New(now, memory.Options{}), walks: queuememory.New(nil)}
	scheduler := schedulememory.New(nil)
	e.system = h.assemble(system.Ports{
		Store: func(string) table.Store { return e.store }, Now: now, NewID: h.newID, NewRevisionID: h.newID,
		Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Random: h.luck.bits(),
		Scheduler: scheduler, Lister: scheduler, Bus: busmemory.New(nil), Copies: blobmemory.New(nil),
		Queue: e.walks, Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Walker: e.store,
	})
	var err error
	e.loop, err = consume.New(consume.Config{
		Registry: h.registry, Consumers: e.system.Consumers, Parking: blobmemory.New(nil), Log: h.logOf("loop"), Now: now,
		Spread: consume.InTurn, Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		panic("simulate: " + err.Error()) // the parts above do not fit together
	}
	e.stream = newStream(e.store.Feed(), false)
	return e
}

// deliver delivers all records, and what these write, to the consumers, and carries out the walks that they set off.
func (e *elsewhere) deliver() error {
	for {
		fresh := e.stream.read(outside)
		if len(fresh) == 0 {
			e.walks.Work(func(m queue.Message) error { return e.system.Walker.Handle(context.Background(), m.Body) })
			if dead := e.walks.Dead(); len(dead) > 0 {
				return fmt.Errorf("walk %s fails", dead[0].Body)
			}
			return nil
		}
		for batch := range slices.Chunk(fresh, 100) {
			raw := make([]json.RawMessage, len(batch))
			for i, r := range batch {
				raw[i] = r.payload()
			}
			answer, err := e.loop.Handle(context.Background(), consume.Event(raw))
			if err != nil || !consume.Finished(answer) {
				return fmt.Errorf("the consumers answer %s: %w", answer, err)
			}
		}
	}
}

// checkCarried takes an account out, into an empty one of another deployment, and out of that again: both files are
// the same but for the instants of the manifest, and nothing derived differs in the new account (I13). One user of a
// history is enough: this costs as much as all that was played.
func (h *history) checkCarried() {
	ctx := context.Background()
	if len(h.users) == 0 {
		return
	}
	user := h.users[h.spec.Seed%uint64(len(h.users))]
	here := h.assemble(system.Ports{
		Store: func(string) table.Store { return h.store }, Now: func() time.Time { return h.now },
		NewID: h.newID, NewRevisionID: h.newID, Random: h.luck.bits(), Copies: h.copies,
		Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	there := h.elsewhere()
	files, err := h.carry(ctx, here, there, user)
	if err != nil {
		h.violate("I13", user, "export", "%v", err)
		return
	}
	h.checkWhole(user, files[0])
	for _, name := range slices.SortedFunc(maps.Keys(files[0]), manifestLast) {
		if !bytes.Equal(files[0][name], files[1][name]) {
			h.violate("I13", user, name, "differs after an import:\n%s\n%s", difference(files[0][name], files[1][name]),
				difference(files[1][name], files[0][name]))
		}
		delete(files[1], name)
	}
	if more := slices.Sorted(maps.Keys(files[1])); len(more) > 0 {
		h.violate("I13", user, more[0], "is there only after an import")
	}
	_ = there.store.Walk(ctx, 0, 1, func(row item.Item) error {
		if key := row.Key(); !h.places.Row(key.PK, key.SK) {
			h.violate("I13", user, key.String(), "is a row that the register does not know")
		}
		return nil
	})
	_, err = there.system.Verifier.Run(ctx, verify.Options{}, func(d verify.Difference) error {
		h.violate("I13", user, d.Key, "verify finds a %s that is %s and should be %s", d.Kind, d.Is, d.ShouldBe)
		return nil
	})
	if err != nil {
		h.violate("I13", user, "verify", "%v", err)
	}
	h.happened["account carried over"]++
}

// manifestLast orders the names of an export's files. The manifest differs where another file does, and says less.
func manifestLast(a, b string) int {
	const manifest = "manifest.json"
	return cmp.Or(cmp.Compare(strings.Count(a, manifest), strings.Count(b, manifest)), strings.Compare(a, b))
}

// checkWhole checks that a file has all that the document says, by the user's rows: each entity and cold copy by its
// id, each id that is gone, each revision and its rows by theirs.
func (h *history) checkWhole(user string, files map[string][]byte) {
	all := map[string][]byte{} // by the folder
	for name, text := range files {
		dir, _, _ := strings.Cut(name, "/")
		all[dir] = append(all[dir], text...)
	}
	has := func(id string, dirs ...string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return bytes.Contains(all[dir], []byte(`"`+id+`"`)) })
	}
	rows := map[string]item.Item{} // by the sort key, of all partitions
	_ = h.store.Walk(context.Background(), 0, 1, func(row item.Item) error {
		if key := row.Key(); userOf(key) == user {
			rows[key.SK] = row
		}
		return nil
	})
	for _, sk := range slices.Sorted(maps.Keys(rows)) {
		parts := strings.Split(sk, "#")
		last := parts[len(parts)-1]
		ok := true
		switch parts[0] {
		case "EVENT", "MASTER", "TASK", "REMINDER", "NOTE", "COLD":
			ok = has(last, "items", "archive")
		case "INSTANCE":
			ok = has(rows[sk].Str(product.AttrEventID), "items") || rows[masterOf(user, rows[sk])] == nil // its series is gone
		case "GONE":
			ok = has(last, "gone.ndjson", "items", "archive")
		case "REV":
			ok = has(last, "values", "plans")
		case "NODE", "TODO", "BLOCK":
			ok = has(last, "values", "plans")
		}
		if !ok {
			h.violate("I13", user, rows[sk].Key().String(), "is not in the export")
		}
	}
}

// masterOf returns the sort key of an exception's series.
func masterOf(user string, exception item.Item) string {
	masterID, _, err := entity.ParseInstanceID(exception.Str(product.AttrEventID))
	if err != nil {
		return ""
	}
	return entity.ItemKey(user, entity.Ref{Type: entity.TypeMaster, ID: masterID}).SK
}

// carry exports, imports, and exports again, and returns the content of both files.
func (h *history) carry(ctx context.Context, here *system.System, there *elsewhere, user string) (
	files [2]map[string][]byte, err error,
) {
	first, err := exported(ctx, here.Transfer, user)
	if err != nil {
		return files, err
	}
	if _, err = there.system.Transfer.Import(ctx, moved, bytes.NewReader(first), int64(len(first)), nil); err != nil {
		return files, fmt.Errorf("import: %w", err)
	}
	if err = there.deliver(); err != nil {
		return files, err
	}
	second, err := exported(ctx, there.system.Transfer, moved)
	if err != nil {
		return files, err
	}
	for i, zipped := range [][]byte{first, second} {
		if files[i], err = unzipped(zipped); err != nil {
			return files, err
		}
	}
	return files, nil
}

func exported(ctx context.Context, s *transfer.Service, user string) ([]byte, error) {
	var out bytes.Buffer
	var parts blob.Store = blobmemory.New(nil)
	_, err := s.Export(ctx, user, &out, parts, "export/", nil)
	return out.Bytes(), err
}

// unzipped returns the files of an archive, the manifest without its instants.
func unzipped(zipped []byte) (map[string][]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(zipped), int64(len(zipped)))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	var manifest transfer.Manifest
	err = json.Unmarshal(files["manifest.json"], &manifest)
	manifest.From, manifest.To = "", ""
	files["manifest.json"] = fmt.Appendf(nil, "%+v", manifest)
	return files, err
}

// difference returns the lines of one text that the other lacks, and a part of them.
func difference(a, b []byte) string {
	has := map[string]bool{}
	for line := range bytes.Lines(b) {
		has[string(line)] = true
	}
	var out []byte
	for line := range bytes.Lines(a) {
		if !has[string(line)] && len(out) < 1000 {
			out = append(out, line...)
		}
	}
	return string(out)
}
