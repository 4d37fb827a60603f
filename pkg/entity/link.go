package entity

import (
	"nexus/pkg/item"
)

// Attributes of one member of the links list.
const (
	LinkTargetType = "targetType"
	LinkTargetID   = "targetId"
	LinkRelation   = "relation"
)

const maxRelation = 64

// Link is one reference from an entity to another of the same user.
type Link struct {
	Target   Ref
	Relation string // optional, the user's own word
}

// LinksOf returns the item's links in their order. It leaves out members of another form.
func LinksOf(it item.Item) []Link {
	list, _ := it[AttrLinks].(item.List)
	var links []Link
	for _, e := range list {
		m, ok := e.(item.Map)
		if !ok {
			continue
		}
		link := item.Item(m)
		links = append(links, Link{Ref{link.Str(LinkTargetType), link.Str(LinkTargetID)}, link.Str(LinkRelation)})
	}
	return links
}

// SetLinks stores the links in the item, or removes the attribute if there are none.
func SetLinks(it item.Item, links []Link) {
	var list item.List
	for _, l := range links {
		m := item.Map{LinkTargetType: item.String(l.Target.Type), LinkTargetID: item.String(l.Target.ID)}
		if l.Relation != "" {
			m[LinkRelation] = item.String(l.Relation)
		}
		list = append(list, m)
	}
	it.Set(AttrLinks, list)
}

// Ref returns the entity that the item is.
func (t *Type) Ref(it item.Item) Ref { return Ref{t.Name, it.Str(t.IDAttr)} }
