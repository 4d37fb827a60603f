package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/table/memory"
)

func TestAddLink_addsAndChangesOneLinkThatRemoveLinkRemoves(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	target := entity.Ref{Type: "NOTE", ID: b.create(product.Note(), `{"title":"n"}`)}
	add := command.AddLink{Type: product.Task(), ID: id, Target: target, Relation: "about"}
	for _, step := range []struct {
		cmd     command.Command
		trips   string
		version int64
		links   []entity.Link
	}{
		{add, "BatchGet Update", 2, []entity.Link{{Target: target, Relation: "about"}}},
		{add, "BatchGet", 2, []entity.Link{{Target: target, Relation: "about"}}},
		{command.AddLink{Type: product.Task(), ID: id, Target: target}, "BatchGet Update", 3,
			[]entity.Link{{Target: target}}},
		{command.RemoveLink{Type: product.Task(), ID: id, Target: target}, "BatchGet Update", 4, nil},
		{command.RemoveLink{Type: product.Task(), ID: id, Target: target}, "BatchGet", 4, nil},
		{command.RemoveLink{Type: product.Task(), ID: id, Target: entity.Ref{Type: "X", ID: "a#b"}}, "BatchGet", 4, nil},
	} {
		res := b.must(step.cmd)
		b.took(step.trips)
		require.Equal(t, step.version, res.Item.Int("version"))
		require.Equal(t, step.links, entity.LinksOf(res.Item))
	}
	require.False(t, b.stored(product.Task(), id).Has("links"), "empty links are absent")
}

func TestAddLink_refusesAWrongLink(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	note := b.create(product.Note(), `{"title":"n"}`)
	foreign := b.create(product.Note(), `{"title":"n"}`, as(bob))
	for name, target := range map[string]entity.Ref{
		"foreign": {Type: "NOTE", ID: foreign}, "unknown": {Type: "NOTE", ID: "note_x"},
		"malformed":         {Type: "NOTE", ID: "a#b"},
		"another type's id": {Type: "TASK", ID: note}, "no type": {Type: "MOOD", ID: note},
		"no collection": {Type: "USER_META", ID: ann},
	} {
		_, err := b.do(command.AddLink{Type: product.Task(), ID: id, Target: target})
		requireNotFound(t, err, "/targetId")
		_ = name
	}
	_, err := b.do(command.AddLink{Type: product.Task(), ID: "task_x", Target: entity.Ref{Type: "NOTE", ID: note}})
	requireNotFound(t, err, "")
	_, err = b.do(command.AddLink{Type: product.Task(), ID: id, Target: entity.Ref{Type: "TASK", ID: id}})
	require.Equal(t, []string{"/links/0"}, pointers(t, err))
	_, err = b.do(command.AddLink{
		Type: product.Task(), ID: id, Target: entity.Ref{Type: "NOTE", ID: note}, Relation: strings.Repeat("r", 65),
	})
	require.Equal(t, []string{"/links/0/relation"}, pointers(t, err))
	_, err = b.do(command.AddLink{Type: product.Task(), ID: id, Target: entity.Ref{Type: "NOTE", ID: note}}, at(9))
	requireStale(t, err, 1)
}

func TestAddLink_boundsAnEntityTo49Links(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var links []string
	for range 49 {
		links = append(links, fmt.Sprintf(`{"targetType":"NOTE","targetId":%q}`, b.create(product.Note(), `{"title":"n"}`)))
	}
	one := b.create(product.Note(), `{"title":"n"}`)
	id := b.create(product.Task(), `{"title":"t","links":[`+strings.Join(links, ",")+`]}`, key("k"))
	_, err := b.do(command.AddLink{Type: product.Task(), ID: id, Target: entity.Ref{Type: "NOTE", ID: one}})
	require.Equal(t, []string{"/links"}, pointers(t, err))
	many := strings.Repeat(links[0]+",", 3000) + links[0]
	_, err = b.do(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"links":[` + many + `]}`)}, at(1))
	require.Contains(t, pointers(t, err), "/links")
}

func TestAddLink_keepsBothOfTwoLinksAddedAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	add := func() command.AddLink {
		return command.AddLink{
			Type: product.Task(), ID: id, Target: entity.Ref{Type: "NOTE", ID: b.create(product.Note(), `{"title":"n"}`)},
		}
	}
	mine, theirs := add(), add()
	b.once("Update", memory.Before, func() error {
		b.must(theirs)
		return nil
	})
	res := b.must(mine)
	require.Equal(t, int64(3), res.Item.Int("version"))
	require.Equal(t, []entity.Link{{Target: theirs.Target}, {Target: mine.Target}}, entity.LinksOf(res.Item))
}
