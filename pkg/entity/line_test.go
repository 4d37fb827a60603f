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

func TestCheckLine_takesOrRefusesEachCharacter(t *testing.T) {
	t.Parallel()
	refused := refusedInLine()
	event := product.Registry().ByName(product.TypeEvent)
	for r := rune(0); r < 0x3100; r++ {
		text := "a" + string(r) + "b"
		for _, doc := range []map[string]any{
			{"title": text}, {"location": text}, {"tags": []any{text}},
			{"links": []any{map[string]any{"targetType": "NOTE", "targetId": "note_x", "relation": text}}},
		} {
			_, errs := event.Parse(doc)
			require.Equal(t, refused[r], len(errs) > 0, "%U in %v: %v", r, doc, errs)
			if refused[r] {
				require.Contains(t, errs[0].Detail, fmt.Sprintf("%U", r))
			}
		}
		_, errs := event.Parse(map[string]any{"description": text})
		require.Equal(t, r < 0x20 && r != '\t' && r != '\n', len(errs) > 0, "%U in a description: %v", r, errs)
		require.Equal(t, refused[r], entity.OneLine(text) == "a b" && r != ' ', "%U made one line: %q", r,
			entity.OneLine(text))
	}
	for _, right := range []string{"فارسی\u200f (A\u200eB)", "x\u061cy", "👩\u200d👩\u200d👧", "a\u00a0b", "e\u0301", "漢字"} {
		_, errs := event.Parse(map[string]any{"title": right})
		require.Empty(t, errs, right)
		require.Equal(t, right, entity.OneLine(right))
	}
}

func TestCheckLine_letsStoredTextBeEdited(t *testing.T) {
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

func TestOneLine_makesTextOneLineAndPlainForAnImport(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "as it is": "as it is", "two\r\nlines": "two lines", "\u202egnp.exe": " gnp.exe",
		"a\x00\x01\u2028b\u2069": "a b ",
	} {
		require.Equal(t, want, entity.OneLine(text), "%q", text)
		require.Empty(t, entity.CheckLine(entity.OneLine(text)))
	}
	for text, want := range map[string]string{
		"a\r\nb\tc": "a\nb\tc", "a\x00b\rc": "a b c", "\u202eas it is": "\u202eas it is",
	} {
		require.Equal(t, want, entity.PlainMarkdown(text), "%q", text)
		require.Empty(t, entity.CheckMarkdown(entity.PlainMarkdown(text)))
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
