package transfer

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

func (j *joiner) values(ctx context.Context) error { return j.histories(ctx, stageValues, valuesDir) }
func (j *joiner) plans(ctx context.Context) error  { return j.histories(ctx, stagePlans, plansDir) }

// histories writes the files of repositories as they come, and behind those of each a text for readers.
func (j *joiner) histories(ctx context.Context, stage int, dir string) error {
	damaged, err := j.damaged(ctx, stage)
	if err != nil {
		return err
	}
	err = j.each(ctx, stage, func(file string, line []byte) error {
		if file == tagMissing {
			return nil
		}
		if of := file[:strings.LastIndexByte(file, '/')+1]; of != j.repos.dir {
			if err := j.describe(); err != nil {
				return err
			}
			j.repos = repositories{dir: of, isPlan: dir == plansDir}
		}
		if file == j.repos.dir+logFile {
			return j.repos.enter(line)
		}
		if err := j.writeLog(damaged); err != nil {
			return err
		}
		j.learn(line)
		j.repos.take(file, line)
		return j.line(file, line)
	})
	if err != nil {
		return err
	}
	return j.describe()
}

// damaged returns the names of the revisions of a stage that are missing, and lists them.
func (j *joiner) damaged(ctx context.Context, stage int) (map[string]bool, error) {
	damaged := map[string]bool{}
	if !j.cursor.Damaged {
		return damaged, nil
	}
	return damaged, j.each(ctx, stage, func(tag string, line []byte) error {
		if tag != tagMissing {
			return nil
		}
		var missing Missing
		err := json.Unmarshal(line, &missing)
		damaged[missing.ID] = true
		j.manifest.Missing = append(j.manifest.Missing, missing)
		return err
	})
}

// writeLog writes the log of the repository that is joined, once it is read, without the entries that are missing.
func (j *joiner) writeLog(damaged map[string]bool) error {
	r := &j.repos
	log := r.log
	if r.log = nil; len(log) == 0 {
		return nil
	}
	newest := log[len(log)-1]
	entries := slices.DeleteFunc(log, func(l logLine) bool { return damaged[r.dir+l.RevID] })
	for name := range damaged {
		if strings.HasPrefix(name, r.dir) {
			closeGaps(entries, newest)
			break
		}
	}
	count := countValues
	if r.isPlan {
		count = countRevisions
		j.manifest.Counts[countPlans]++
	}
	j.manifest.Counts[count] += len(entries)
	for _, l := range entries {
		r.head = l.RevID
		if err := j.line(r.dir+logFile, encode(l)); err != nil {
			return err
		}
	}
	return nil
}

// closeGaps gives the last of the entries that are left what the newest one said. The history is unbroken from behind
// the last gap on.
func closeGaps(entries []logLine, newest logLine) {
	oldest, before := "", ""
	for _, l := range entries {
		if l.ParentRevID != before || l.RevID == newest.OldestRevID {
			oldest = l.RevID
		}
		before = l.RevID
	}
	last := &entries[len(entries)-1]
	last.RolledFromRevID, last.OldestRevID = newest.RolledFromRevID, oldest
}

// learn keeps the title of a node: plans name it by its id.
func (j *joiner) learn(line []byte) {
	var node struct{ NodeID, Title string }
	if !j.repos.isPlan && json.Unmarshal(line, &node) == nil && node.NodeID != "" {
		j.titles[node.NodeID] = node.Title
	}
}

// describe writes the text about the present state of the repository that was joined last.
func (j *joiner) describe() error {
	name, text, err := j.repos.text(j.titles)
	j.repos = repositories{}
	if err != nil || name == "" {
		return err
	}
	return j.file(readableDir+name, text)
}
