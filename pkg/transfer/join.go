package transfer

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"nexus/pkg/blob"
	"nexus/pkg/entity"
	"nexus/pkg/register"
)

// errLong says that an export took longer than what it read can be relied on.
var errLong = errors.New("the export took longer than a day: begin again")

// joiner writes a file from the parts of an export.
type joiner struct {
	*writer
	parts  blob.Store
	prefix string
	cursor Cursor
	// ids are those of the entities and copies so far: each id is in the file once.
	ids      map[string]bool
	registry *entity.Registry
	repos    repositories
	// titles are those of the nodes of all trees, the newest of each.
	titles map[string]string
	// fence is asked before each part: joining takes longer than a part may.
	fence func(context.Context) error
}

// Join writes the file of a walk that is done, and returns its manifest. It may be repeated.
func (s *Service) Join(
	ctx context.Context, user string, c Cursor, parts blob.Store, prefix string, to io.Writer,
) (Manifest, error) {
	if err := s.fence(ctx, user); err != nil {
		return Manifest{}, err
	}
	from, err := readInstant(c.From)
	until, wrong := readInstant(c.To)
	if err = errors.Join(err, wrong); err != nil || !c.Done() || len(c.Parts) != len(stages) {
		return Manifest{}, fmt.Errorf("cursor of an export: %w", errors.Join(err, errCursor))
	}
	if until.Sub(from) > longest {
		return Manifest{}, errLong
	}
	j := &joiner{
		writer: &writer{zip: zip.NewWriter(to), manifest: Manifest{
			Form: Form, From: c.From, To: c.To, Counts: s.noCounts(), LeftOut: leftOut(),
		}},
		parts: parts, prefix: prefix, cursor: c, ids: map[string]bool{}, registry: s.Registry,
		titles: map[string]string{},
		fence:  func(ctx context.Context) error { return s.fence(ctx, user) },
	}
	for _, join := range []func(context.Context) error{
		j.settings, j.items, j.copies, j.gone, j.values, j.plans, j.calendar, j.notes,
	} {
		if err := join(ctx); err != nil {
			return Manifest{}, fmt.Errorf("join the parts of an export: %w", err)
		}
	}
	if err := j.end(); err != nil {
		return Manifest{}, err
	}
	return j.manifest, s.fence(ctx, user)
}

// CountNames returns the names of all counts of a manifest: the types of entities, and the other things.
func CountNames(r *entity.Registry) []string {
	var names []string
	for _, t := range types(r) {
		names = append(names, t.Name)
	}
	return append(names, countArchived, countGone, countValues, countPlans, countRevisions)
}

func (s *Service) noCounts() map[string]int {
	counts := map[string]int{}
	for _, name := range CountNames(s.Registry) {
		counts[name] = 0
	}
	return counts
}

// leftOut returns what no file has: the rows that the register leaves out, each kind of thing once.
func leftOut() []LeftOut {
	out := []LeftOut{
		{"statistics", "they are counted again from the items"},
		{"when a reminder was asked for", "what was due before an import does not ring"},
	}
	for _, line := range register.Lines() {
		switch line.Place {
		case register.Items, register.Repositories:
			one := LeftOut{line.Holds, line.Why}
			if line.Export == register.None && !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	return out
}

// each calls visit for each line of a stage's parts with its tag.
func (j *joiner) each(ctx context.Context, stage int, visit func(tag string, line []byte) error) error {
	for _, n := range j.cursor.Parts[stage] {
		if err := j.fence(ctx); err != nil {
			return err
		}
		body, err := j.parts.Get(ctx, partName(j.prefix, stage, n))
		if err != nil {
			return fmt.Errorf("part %d of %s: %w", n, stages[stage].name, err)
		}
		for line := range bytes.Lines(body) {
			tag, rest, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"))
			if err := visit(string(tag), rest); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *joiner) settings(ctx context.Context) error {
	return j.each(ctx, stageSettings, func(tag string, line []byte) error { return j.line(tag, line) })
}

// identity has what joining reads of an entity's line.
type identity struct {
	Type     string `json:"entityType"`
	MasterID string `json:"masterId"`
}

// identify returns the type and the id of a line that the walk has found good.
func (j *joiner) identify(line []byte) (of identity, id string, err error) {
	if err = json.Unmarshal(line, &of); err != nil {
		return of, "", fmt.Errorf("line of an item: %w", err)
	}
	t := j.registry.ByName(of.Type)
	if t == nil {
		return of, "", fmt.Errorf("line of an item: type %q is unknown", of.Type)
	}
	return identify(t, line)
}

// identify returns the identity and the id of a line of an item of the type.
func identify(t *entity.Type, line []byte) (of identity, id string, err error) {
	var all map[string]json.RawMessage
	if err = json.Unmarshal(line, &of); err == nil {
		err = json.Unmarshal(line, &all)
	}
	if err == nil {
		err = json.Unmarshal(all[t.IDAttr], &id)
	}
	if err != nil {
		return of, "", fmt.Errorf("line of an item: %w", err)
	}
	return of, id, nil
}

// items writes the entities. An exception whose series was made since the walk passed the series is left out with it.
// One whose series is damaged is missing, too.
func (j *joiner) items(ctx context.Context) error {
	n, damaged := 0, map[string]bool{}
	return j.each(ctx, stageItems, func(tag string, line []byte) error {
		if tag == tagMissing {
			var missing Missing
			err := json.Unmarshal(line, &missing)
			damaged[missing.ID] = true
			return err
		}
		if tag != tagItem {
			return nil
		}
		of, id, err := j.identify(line)
		switch {
		case err != nil:
			return err
		case of.Type == entity.TypeInstance && damaged[of.MasterID]:
			j.manifest.Missing = append(j.manifest.Missing, Missing{id, "the row of its series is damaged"})
			return nil
		case j.ids[id], of.Type == entity.TypeInstance && !j.ids[of.MasterID]:
			return nil
		}
		j.ids[id] = true
		j.manifest.Counts[of.Type]++
		n++
		return j.line(numbered(itemsDir, n), line)
	})
}

// copies writes the items of which only the cold copy is left.
func (j *joiner) copies(ctx context.Context) error {
	n := 0
	take := func(tag string, line []byte) error {
		switch tag {
		case tagMissing:
			var missing Missing
			if err := json.Unmarshal(line, &missing); err != nil {
				return err
			}
			if !j.ids[missing.ID] {
				j.manifest.Missing = append(j.manifest.Missing, missing)
			}
			return nil
		case tagCopy:
		default:
			return nil
		}
		_, id, err := j.identify(line)
		if err != nil || j.ids[id] {
			return err
		}
		j.ids[id] = true
		j.manifest.Counts[countArchived]++
		n++
		return j.line(numbered(archiveDir, n), line)
	}
	if err := j.each(ctx, stageArchive, take); err != nil {
		return err
	}
	return j.each(ctx, stageItems, take)
}

// numbered is the name of the file of the n-th line, counted from 1.
func numbered(dir string, n int) string {
	return fmt.Sprintf("%s%04d%s", dir, (n-1)/linesPerFile+1, lines)
}

// gone writes the ids that never come back. One that was read while it was there is among the items.
func (j *joiner) gone(ctx context.Context) error {
	return j.each(ctx, stageGone, func(_ string, line []byte) error {
		var gone goneLine
		if err := json.Unmarshal(line, &gone); err != nil || j.ids[gone.ID] {
			return err
		}
		j.manifest.Counts[countGone]++
		return j.line(goneFile, line)
	})
}

func (j *joiner) calendar(ctx context.Context) error {
	return j.each(ctx, stageCalendar, func(tag string, line []byte) error {
		var text string
		if err := json.Unmarshal(line, &text); err != nil {
			return err
		}
		return j.append(tag, []byte(text))
	})
}

// notes writes a text for readers of each note.
func (j *joiner) notes(ctx context.Context) error {
	return j.each(ctx, stageItems, func(tag string, line []byte) error {
		if tag != tagItem || !bytes.HasPrefix(line, []byte(`{"entityType":"NOTE"`)) {
			return nil
		}
		// Where a member is of another kind than the text needs, the line of the note has it as it is.
		if name, text, err := noteText(line); err == nil {
			return j.file(readableDir+name, text)
		}
		return nil
	})
}
