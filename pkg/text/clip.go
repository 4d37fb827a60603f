package text

import "unicode/utf8"

// Clip returns a text of at most limit bytes unchanged. Of a longer one it returns the whole characters within the
// limit and the mark "…". It keeps messages short for any input.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
