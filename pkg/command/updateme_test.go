package command_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table/memory"
)

func TestUpdateMe_makesVersionOneOfTheFirstChange(t *testing.T) {
	t.Parallel()
	// What the statistics write when they are first: a complete row at version 0.
	counted := product.NewUserMeta(ann, noon)
	counted["stats"] = item.Map{"totalTasks": item.Int(7)}
	counted["statsVersion"] = item.Int(3)
	delete(counted, "PK")
	delete(counted, "SK")
	for name, arrange := range map[string]func(b *fixture){
		"without a row":     func(*fixture) {},
		"behind statistics": func(b *fixture) { b.set(entity.MetaKey(ann), counted) },
		"while statistics come": func(b *fixture) {
			b.once("Update", memory.Before, func() error {
				b.set(entity.MetaKey(ann), counted)
				return nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			arrange(b)
			b.now = noon.Add(time.Minute)
			_, err := b.do(command.UpdateMe{Patch: doc(`{"defaultTzid":"Asia/Tokyo"}`)})
			require.ErrorIs(t, err, command.ErrNoVersion)
			_, err = b.do(command.UpdateMe{Patch: doc(`{"defaultTzid":"Asia/Tokyo"}`)}, at(1))
			requireStale(t, err, 0)
			res := b.must(command.UpdateMe{Patch: doc(`{"defaultTzid":"Asia/Tokyo","preferences":{"weekStart":0}}`)}, at(0))
			require.Equal(t, int64(1), res.Item.Int("version"))
			stored := b.row(entity.MetaKey(ann))
			require.Equal(t, res.Item.Map("preferences"), stored.Map("preferences"))
			require.Equal(t, "Asia/Tokyo", stored.Str("defaultTzid"))
			require.Equal(t, item.FormatInstant(b.now), stored.Str("zoneSetAt"))
			require.Equal(t, int64(1), stored.Int("zoneVersion"))
			require.Equal(t, int64(0), stored.Map("preferences").Int("weekStart"))
			require.Equal(t, "dark", stored.Map("preferences").Str("theme"))
			require.Equal(t, "USER_META", stored.Str("entityType"))
			if name == "without a row" {
				require.Empty(t, product.UserMeta().Validate(stored))
			}
			if name != "without a row" {
				require.Equal(t, item.Map{"totalTasks": item.Int(7)}, stored["stats"])
				require.Equal(t, int64(3), stored.Int("statsVersion"))
			}
		})
	}
}

func TestUpdateMe_isNotDisturbedByStatistics(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(command.UpdateMe{Patch: doc(`{"defaultTzid":"Asia/Tokyo"}`)}, at(0))
	b.once("Update", memory.Before, func() error {
		b.set(entity.MetaKey(ann), item.Item{"stats": item.Map{"totalTasks": item.Int(7)}, "statsVersion": item.Int(3)})
		return nil
	})
	res := b.must(command.UpdateMe{Patch: doc(`{"preferences":{"theme":"light"}}`)}, at(1))
	require.Equal(t, int64(2), res.Item.Int("version"))
	require.Equal(t, int64(7), b.row(entity.MetaKey(ann)).Map("stats").Int("totalTasks"))
	_, err := b.do(command.UpdateMe{Patch: doc(`{"defaultTzid":"EST","stats":{},"preferences":{"weekStart":5}}`)}, at(2))
	require.ElementsMatch(t, []string{"/defaultTzid", "/stats", "/preferences/weekStart"}, pointers(t, err))
}
