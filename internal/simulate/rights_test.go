package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/changes"
	"nexus/pkg/deploy/access"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/stats"
	"nexus/pkg/system"
	"nexus/pkg/table"
)

func TestRights_areThoseOfThePartsFunctions(t *testing.T) {
	t.Parallel()
	user, tree := entity.UserPK("ann"), repository.UserPK("ann")
	for _, c := range []struct {
		part, action string
		index        table.Index
		partition    string
		want         bool
	}{
		{stats.Name, access.ConditionCheckItem, table.Base, user, true},
		{links.Name, access.Query, table.YearView, user, false},
		{changes.Name, access.Query, table.Base, user, true},
		{changes.Name, access.Query, table.Base, tree, false},
		{stats.Name, access.PutItem, table.Base, tree, false},
		{ownSum().Name(), access.UpdateItem, table.Base, user, true},
		{reminders.Name, access.Query, table.StateView, user, false},
		{system.PartNotify, access.DeleteItem, table.Base, user, false},
		{system.PartAPI, access.BatchWriteItem, table.Base, tree, true},
		{system.PartAPI, access.BatchWriteItem, table.Base, user, false},
		{system.PartAPI, access.Query, table.StateView, user, true},
		{system.PartVerify, access.Query, table.StateView, user, true},
	} {
		require.Equal(t, c.want, rightsOf(product.Registry(), c.part).cover(c.action, c.index, c.partition), c)
	}
}
