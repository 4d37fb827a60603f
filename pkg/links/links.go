// Package links keeps one LINK row for each link of each item, so that the cross-links index finds backlinks. It is a
// projection: the edges of an item are a pure function of its image. Package projection applies each change of them
// exactly once; repeating a record is safe for the reason given there.
//
// An edge says only who links to whom. The reader finds out whether the target still exists: a projection must never
// read another item.
package links

import (
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/projection"
)

// Name is the projection's name.
const Name = "links"

// revision names the contribution function below.
const revision = "l1"

// Projection returns the edges.
func Projection() *projection.Projection {
	return projection.NewRows(projection.RowsSpec{
		Name: Name, Revision: revision, Edges: edges, Row: Row, Prefix: entity.LinksPrefix,
	})
}

// edges returns TYPE/id of each target.
func edges(_ *entity.Type, it item.Item) []string {
	links := entity.LinksOf(it)
	out := make([]string, len(links))
	for i, l := range links {
		out[i] = l.Target.Type + "/" + l.Target.ID
	}
	return out
}

// Row returns the edge from the source to the target TYPE/id.
func Row(user string, source entity.Ref, edge string) item.Item {
	targetType, targetID, _ := strings.Cut(edge, "/")
	target := entity.Ref{Type: targetType, ID: targetID}
	row := entity.LinkKey(user, source, target).Item()
	row[item.AttrGSI4PK] = item.String(entity.LinkedPK(user, target))
	row[item.AttrGSI4SK] = item.String(entity.LinkedSK(source))
	return row
}
