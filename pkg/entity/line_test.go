package entity_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/text"
)

// refusedInLine are the characters by their numbers, written down apart from the code.
func refusedInLine() map[rune]bool {
	refused := map[rune]bool{0x7F: true, 0x2028: true, 0x2029: true}
	for _, span := range [][2]rune{{0x00, 0x1F}, {0x80, 0x9F}, {0x202A, 0x202E}, {0x2066, 0x2069}} {
		for r := span[0]; r <= span[1]; r++ {
			refused[r] = true
		}
	}
	return refused
}

func TestType_takesOrRefusesEachCharacterOfALine(t *testing.T) {
	t.Parallel()
	refused := refusedInLine()
	event := product.Registry().ByName(product.TypeEvent)
	for r := rune(0); r < 0x3100; r++ {
		line := "a" + string(r) + "b"
		for _, doc := range []map[string]any{
			{"title": line}, {"location": line}, {"tags": []any{line}},
			{"links": []any{map[string]any{"targetType": "NOTE", "targetId": "note_x", "relation": line}}},
		} {
			_, errs := event.Parse(doc)
			require.Equal(t, refused[r], len(errs) > 0, "%U in %v: %v", r, doc, errs)
			if refused[r] {
				require.Contains(t, errs[0].Detail, fmt.Sprintf("%U", r))
			}
		}
		_, errs := event.Parse(map[string]any{"description": line})
		require.Equal(t, r < 0x20 && r != '\t' && r != '\n', len(errs) > 0, "%U in a description: %v", r, errs)
		require.Equal(t, refused[r], text.OneLine(line) == "a b" && r != ' ', "%U made one line: %q", r,
			text.OneLine(line))
	}
	for _, right := range []string{
		"فارسی\u200f (A\u200eB)", "x\u061cy", "👩\u200d👩\u200d👧", "a\u00a0b", "e\u0301", "漢字",
	} {
		_, errs := event.Parse(map[string]any{"title": right})
		require.Empty(t, errs, right)
		require.Equal(t, right, text.OneLine(right))
	}
}

func TestType_letsStoredTextBeEdited(t *testing.T) {
	t.Parallel()
	task := product.Registry().ByName(product.TypeTask)
	fields, errs := task.Parse(map[string]any{"status": "COMPLETED"})
	require.Empty(t, errs)
	before := item.Item{"title": item.String("two\nlines")}
	merged, errs := task.Merge(before, fields)
	require.Empty(t, errs)
	for _, wrong := range task.Validate(merged) {
		require.NotEqual(t, "/title", wrong.Pointer, "%v", wrong)
	}
}

func TestField_checksEveryTextThatAClientSends(t *testing.T) {
	t.Parallel()
	for _, typ := range product.Registry().Types() {
		for _, f := range typ.Fields {
			if f.Origin != entity.FromClient || f.Kind != entity.Text && f.Kind != entity.Markdown && f.Kind != entity.Tags {
				continue
			}
			var value any = "a\x00b"
			if f.Kind == entity.Tags {
				value = []any{value}
			}
			_, errs := typ.Parse(map[string]any{f.Name: value})
			require.Len(t, errs, 1, "%s.%s", typ.Name, f.Name)
			text, err := json.Marshal(errs)
			require.NoError(t, err)
			require.True(t, strings.Contains(string(text), "U+0000"), "%s.%s: %s", typ.Name, f.Name, text)
		}
	}
}
