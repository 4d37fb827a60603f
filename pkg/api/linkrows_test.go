package api_test

import (
	"encoding/base64"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// linkRows writes the edges that the links consumer would have written by now, for every entity of the table.
func (b *fixture) linkRows() {
	b.t.Helper()
	var edges []item.Item
	b.NoError(b.store.Walk(b.t.Context(), 0, 1, func(it item.Item) error {
		t := product.Registry().ByName(it.Str(entity.AttrType))
		if t == nil {
			return nil
		}
		user, err := entity.ParseUserPK(it.Str(item.AttrPK))
		for _, l := range entity.LinksOf(it) {
			edge := entity.LinkKey(user, t.Ref(it), l.Target).Item()
			edge[item.AttrGSI4PK] = item.String(entity.LinkedPK(user, l.Target))
			edge[item.AttrGSI4SK] = item.String(entity.LinkedSK(t.Ref(it)))
			edges = append(edges, edge)
		}
		return err
	}))
	for _, edge := range edges {
		b.NoError(b.store.Put(b.t.Context(), table.Put{Item: edge}))
	}
}

func decodeBase64(s string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(s) }

func encodeBase64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
