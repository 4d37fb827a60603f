package product_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestMaster_datesItsTimesForExceptionsWithReminders(t *testing.T) {
	t.Parallel()
	master, errs := create(t, product.Master(),
		`{"title":"x","startUtc":"2025-01-06T14:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY"}`)
	require.Empty(t, errs)
	for name, differ := range map[string]bool{
		"startUtc": true, "startTzid": true, "rrule": true, "exdate": true, "title": false, "status": false,
	} {
		after := with(master, item.Item{name: text("other")})
		require.Equal(t, differ, product.Master().DuesDiffer(master, after), name)
	}
	later := noon.Add(time.Hour)
	tentative := product.Master().NextVersion(entity.ByUser, "ann", master,
		with(master, item.Item{"status": text("TENTATIVE")}), later, nil)
	require.False(t, tentative.Has("dueSetAt"))
	cancelled := product.Master().NextVersion(entity.ByUser, "ann", master,
		with(master, item.Item{"status": text("CANCELLED")}), later, nil)
	require.Equal(t, item.FormatInstant(later), cancelled.Str("dueSetAt"))
	revived := product.Master().NextVersion(entity.ByUser, "ann", cancelled,
		with(cancelled, item.Item{"status": text("CONFIRMED")}), later.Add(time.Hour), nil)
	require.Equal(t, item.FormatInstant(later.Add(time.Hour)), revived.Str("dueSetAt"))
}
