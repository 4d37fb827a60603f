package entity

import "strings"

// palette is the set of muted colours that clients share (calendar document, table 4.1).
var palette = map[string]string{
	"slate": "#64748b", "gray": "#6b7280", "zinc": "#71717a", "red": "#ef4444", "orange": "#f97316", "amber": "#f59e0b",
	"yellow": "#eab308", "lime": "#84cc16", "green": "#22c55e", "cyan": "#06b6d4", "blue": "#3b82f6", "violet": "#8b5cf6",
}

// parseColor returns the stored form of a palette name or of #rrggbb.
func parseColor(s string) (string, bool) {
	if hex, ok := palette[s]; ok {
		return hex, true
	}
	s = strings.ToLower(s)
	return s, isHexColor(s)
}

func isHexColor(s string) bool {
	if len(s) != 7 || s[0] != '#' {
		return false
	}
	for _, c := range s[1:] {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return true
}
