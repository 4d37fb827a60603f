package transfer

import (
	"nexus/pkg/entity"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/text"
)

// clean replaces the characters that a field refuses by spaces, as an import of calendars does: an account may have
// texts from before the rule, which cannot be asked for again.
func (p *parser) clean(l numberedLine, parent string, fields []entity.Field, doc map[string]any) {
	for i := range fields {
		f := &fields[i]
		pointer := parent + "/" + f.Name
		switch raw := doc[f.Name].(type) {
		case string:
			switch f.Kind {
			case entity.Text:
				doc[f.Name] = p.replaced(l, pointer, raw, text.OneLine)
			case entity.Markdown:
				doc[f.Name] = p.replaced(l, pointer, raw, text.PlainMarkdown)
			}
		case []any:
			p.cleanList(l, pointer, f, raw)
		case map[string]any:
			p.clean(l, pointer, f.Fields, raw)
		}
	}
}

func (p *parser) cleanList(l numberedLine, pointer string, f *entity.Field, list []any) {
	for i, e := range list {
		switch e := e.(type) {
		case string:
			if f.Kind == entity.Tags {
				list[i] = p.replaced(l, pointer, e, text.OneLine)
			}
		case map[string]any:
			if relation, ok := e[entity.LinkRelation].(string); ok && f.Kind == entity.Links {
				e[entity.LinkRelation] = p.replaced(l, pointer, relation, text.OneLine)
			}
		}
	}
}

func (p *parser) replaced(l numberedLine, pointer, was string, replace func(string) string) string {
	is := replace(was)
	if is != was && p.cleaned != nil {
		p.cleaned(l, pointer)
	}
	return is
}

func (p *parser) cleanTree(l numberedLine, t values.Tree) {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		l.n = i + 1
		n.Title = p.replaced(l, "/title", n.Title, text.OneLine)
		n.Notes = p.replaced(l, "/notes", n.Notes, text.PlainMarkdown)
	}
}

func (p *parser) cleanPlan(l numberedLine, of plan.Plan) {
	for i := range of.Todos {
		t := &of.Todos[i]
		l.n = i + 1
		t.Notes = p.replaced(l, "/notes", t.Notes, text.PlainMarkdown)
	}
	for i := range of.Blocks {
		b := &of.Blocks[i]
		l.n = len(of.Todos) + i + 1
		b.Title = p.replaced(l, "/title", b.Title, text.OneLine)
	}
}
