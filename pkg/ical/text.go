package ical

import (
	"strings"

	"nexus/pkg/text"
)

// Escape writes a text as the value of a TEXT property (RFC 5545 §3.3.11).
func Escape(text string) string {
	if !strings.ContainsAny(text, "\\;,\r\n") {
		return text
	}
	return strings.NewReplacer("\\", `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\r", `\n`, "\n", `\n`).Replace(text)
}

// Unescape reads the value of a TEXT property. A backslash before a quote or a colon, which some programs write, is
// dropped; before anything else that the standard does not name it stays.
func Unescape(value string) string {
	if !strings.Contains(value, `\`) {
		return value
	}
	var b strings.Builder
	b.Grow(len(value))
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' || i+1 == len(value) {
			b.WriteByte(value[i])
			continue
		}
		i++
		switch c := value[i]; c {
		case 'n', 'N':
			b.WriteByte('\n')
		case '\\', ';', ',', '"', ':':
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

// SplitText reads a comma-separated list of TEXT values.
func SplitText(value string) []string {
	var parts []string
	from := 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '\\':
			i++
		case ',':
			parts = append(parts, Unescape(value[from:i]))
			from = i + 1
		}
	}
	return append(parts, Unescape(value[from:]))
}

// clip keeps a message short for any input.
func clip(s string) string { return text.Clip(s, 60) }
