package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/table/memory"
)

func TestCheckTargets_takesATargetThatTheSameCommandWrites(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	toSeries := `"links":[{"targetType":"MASTER","targetId":"` + id + `"}]`
	own := b.except(id, "20251208", `{`+toSeries+`}`)
	require.Equal(t, entity.Ref{Type: "MASTER", ID: id}, entity.LinksOf(own)[0].Target)
	res := b.must(command.SplitSeries{ID: id, Date: "20251215", Changes: doc(`{` + toSeries + `}`)}, at(1))
	require.Equal(t, entity.Ref{Type: "MASTER", ID: id}, entity.LinksOf(res.Item)[0].Target,
		"the following series leads back")
}

func TestCheckTargets_asksForNoTargetOfALinkThatTheSeriesHas(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	deleted, other := b.create(product.Note(), `{"title":"n"}`), b.create(product.Note(), `{"title":"m"}`)
	link := func(id string) string { return `{"targetType":"NOTE","targetId":"` + id + `"}` }
	id := b.newSeries(`"rrule":"FREQ=DAILY","links":[` + link(deleted) + `]`)
	b.must(command.Delete{Type: product.Note(), ID: deleted}, at(1))
	own := b.except(id, "20251203", `{"links":[`+link(deleted)+`,`+link(other)+`]}`)
	require.Len(t, entity.LinksOf(own), 2)
	b.except(id, "20251204", `{"links":[]}`)
	_, err := b.do(command.PutInstance{MasterID: id, Date: "20251204", Fields: doc(`{"links":[` + link(deleted) + `]}`)},
		b.version(id, "20251204"))
	requireNotFound(t, err, "/links/0/targetId")
}

func TestCreateSeries_refusesAnEventThatIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	event := b.create(product.Event(), `{`+standup+`}`)
	b.once("Transact", memory.Before, func() error {
		b.must(command.Delete{Type: product.Event(), ID: event}, at(1))
		return nil
	})
	_, err := b.do(command.CreateSeries{FromEventID: event, Fields: doc(`{"rrule":"FREQ=WEEKLY"}`)}, at(1))
	requireNotFound(t, err, "/fromEventId")
}

func TestCheckTargets_refusesALinkToTheEventThatASeriesWas(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	event := b.must(command.Create{Type: product.Event(), Fields: doc(`{` + standup + `}`)}).Ref.ID
	_, err := b.do(command.CreateSeries{FromEventID: event,
		Fields: doc(`{"rrule":"FREQ=WEEKLY","links":[{"targetType":"EVENT","targetId":"` + event + `"}]}`)}, at(1))
	var missing *command.NotFoundError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, "/links/0/targetId", missing.Pointer)
}
