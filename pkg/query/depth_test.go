package query_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/table"
	"nexus/pkg/text/fold"
)

// slowReader takes a second for each request, in virtual time.
type slowReader struct{ table.Reader }

func (s slowReader) Get(ctx context.Context, key item.Key) (item.Item, error) {
	time.Sleep(time.Second)
	return s.Reader.Get(ctx, key)
}

func (s slowReader) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	time.Sleep(time.Second)
	return s.Reader.BatchGet(ctx, keys)
}

func (s slowReader) Query(ctx context.Context, q table.Query) (table.Page, error) {
	time.Sleep(time.Second)
	return s.Reader.Query(ctx, q)
}

// tripsDeep returns how many round trips of an agenda came one after another.
func tripsDeep(t *testing.T, b *fixture, q query.AgendaQuery) (page query.Agenda, deep int) {
	synctest.Test(t, func(t *testing.T) {
		service := query.New(query.Config{
			Store: slowReader{b.store}, Registry: product.Registry(), Now: func() time.Time { return b.now }, Fold: fold.String,
		})
		began := time.Now()
		var err error
		page, err = service.Agenda(t.Context(), ann, q)
		require.NoError(t, err)
		deep = int(time.Since(began) / time.Second)
	})
	return page, deep
}
