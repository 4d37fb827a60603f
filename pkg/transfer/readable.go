package transfer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
)

// repositories collects the present state of the repository that is joined.
type repositories struct {
	dir    string
	isPlan bool
	log    []logLine // until it is written
	head   string    // the newest revision of the log
	rows   [][]byte
}

// enter takes in a line of its log.
func (r *repositories) enter(line []byte) error {
	var entry logLine
	err := json.Unmarshal(line, &entry)
	r.log = append(r.log, entry)
	return err
}

// take takes in a line of a revision.
func (r *repositories) take(file string, line []byte) {
	if file == r.dir+r.head+lines && len(line) > 0 {
		r.rows = append(r.rows, line)
	}
}

// text returns the name and the text of the file for readers; no name for a repository without a revision. The titles
// are those of the nodes that a plan may name.
func (r *repositories) text(titles map[string]string) (name string, text []byte, err error) {
	switch {
	case r.head == "":
		return "", nil, nil
	case r.isPlan:
		day := strings.TrimSuffix(strings.TrimPrefix(r.dir, plansDir), "/")
		p, err := readPlan(r.rows)
		return "plans/" + day + ".md", planText(day, p, titles), err
	}
	t, err := readTree(r.rows)
	return "values.md", treeText(t), err
}

// noteText returns the name and the text of a note with its front matter, whose values are JSON and so YAML.
func noteText(line []byte) (name string, text []byte, err error) {
	var note struct {
		ID        string   `json:"noteId"`
		Title     string   `json:"title"`
		Body      string   `json:"body"`
		Tags      []string `json:"tags"`
		IsPinned  bool     `json:"isPinned"`
		CreatedAt string   `json:"createdAt"`
		UpdatedAt string   `json:"updatedAt"`
	}
	if err := json.Unmarshal(line, &note); err != nil {
		return "", nil, fmt.Errorf("line of a note: %w", err)
	}
	var out strings.Builder
	out.WriteString("---\n")
	for _, member := range []struct {
		name  string
		value any
	}{
		{"id", note.ID}, {"title", note.Title}, {"tags", listed(note.Tags)}, {"pinned", note.IsPinned},
		{"created", note.CreatedAt}, {"updated", note.UpdatedAt},
	} {
		fmt.Fprintf(&out, "%s: %s\n", member.name, encode(member.value))
	}
	fmt.Fprintf(&out, "---\n\n%s\n", note.Body)
	return "notes/" + note.ID + ".md", []byte(out.String()), nil
}

func listed(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// unknownAction stands for an action that no tree of the file has, or whose words were forgotten.
const unknownAction = "an action without a title"

func planText(day string, p plan.Plan, titles map[string]string) []byte {
	var out strings.Builder
	title := func(id string) string { return cmp.Or(titles[id], unknownAction) }
	fmt.Fprintf(&out, "# %s\n", day)
	if len(p.Todos) > 0 {
		out.WriteString("\n")
	}
	for _, t := range p.Todos {
		fmt.Fprintf(&out, "- [%s] %s (%s)\n", mark(t.Done()), title(t.ActionID), t.Classification)
		indent(&out, t.Notes)
	}
	if len(p.Blocks) > 0 {
		out.WriteString("\n")
	}
	for _, b := range p.Blocks {
		fmt.Fprintf(&out, "- %s to %s %s", shown(b.StartTimeIso), shown(b.EndTimeIso), b.BlockType)
		if b.Title != "" {
			fmt.Fprintf(&out, " %s", b.Title)
		}
		if b.ActionID != "" {
			fmt.Fprintf(&out, " %s", title(b.ActionID))
		}
		out.WriteString("\n")
	}
	return []byte(out.String())
}

func shown(t time.Time) string { return instant(t) }

func mark(done bool) string {
	if done {
		return "x"
	}
	return " "
}

func indent(out *strings.Builder, notes string) {
	if notes == "" {
		return
	}
	for line := range strings.SplitSeq(notes, "\n") {
		fmt.Fprintf(out, "  %s\n", line)
	}
}

// treeText lists the nodes below their parents. A node with several parents stands below each, with its notes below the
// first; what is deleted comes last.
func treeText(t values.Tree) []byte {
	nodes, children, isChild := map[string]values.Node{}, map[string][]string{}, map[string]bool{}
	for _, n := range t.Nodes {
		nodes[n.NodeID] = n
	}
	for _, e := range t.Edges {
		children[e.ParentNodeID] = append(children[e.ParentNodeID], e.ChildNodeID)
		isChild[e.ChildNodeID] = true
	}
	var out strings.Builder
	out.WriteString("# Values\n")
	shownNodes := map[string]bool{}
	var add func(id string, depth int)
	add = func(id string, depth int) {
		n := nodes[id]
		pad := strings.Repeat("  ", depth)
		fmt.Fprintf(&out, "%s- [%s] %s (%s %s)\n", pad, mark(!n.CompletedAt.IsZero()), n.Title, n.NodeType, id)
		if shownNodes[id] {
			return
		}
		shownNodes[id] = true
		if n.Notes != "" {
			fmt.Fprintf(&out, "%s  %s\n", pad, strings.ReplaceAll(n.Notes, "\n", "\n"+pad+"  "))
		}
		for _, child := range children[id] {
			add(child, depth+1)
		}
	}
	for _, deleted := range []bool{false, true} {
		for _, n := range t.Nodes {
			if n.Deleted() == deleted && !isChild[n.NodeID] {
				if out.WriteString("\n"); deleted && !shownNodes[n.NodeID] {
					out.WriteString("Deleted:\n\n")
				}
				add(n.NodeID, 0)
			}
		}
	}
	return []byte(out.String())
}
