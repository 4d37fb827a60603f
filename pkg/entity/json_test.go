package entity_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/product"
)

func FuzzTextInJSON(f *testing.F) {
	for _, text := range []string{"", "plain", "\"\\\n\t\x00\x1f\x7f", "ä€𝄞", "a\xffb", "\xed\xa0\x80"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out := product.Note().AppendJSON(nil, item.Item{"title": item.String(text)})
		var got struct{ Title string }
		require.NoError(t, json.Unmarshal(out, &got), "%s", out)
		var want string
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(quoted, &want))
		require.Equal(t, want, got.Title)
	})
}

// A page of 1 MB must fit into an answer, in which each byte may be escaped once more.
func TestAppendJSON_takesAtMostTwiceTheBytesOfAText(t *testing.T) {
	t.Parallel()
	for c := rune(0); c < 0x3000; c++ {
		if c < 0x20 && c != '\t' && c != '\n' {
			continue // no text may have it
		}
		text := strings.Repeat(string(c), 100)
		out := product.Note().AppendJSON(nil, item.Item{"body": item.String(text)})
		require.LessOrEqual(t, len(out), 2*len(text)+len(`{"body":""}`), "%U", c)
	}
}
