package text

import (
	"fmt"
	"strings"
)

// breaksLine reports whether a one-line field refuses the character: titles, locations, tags, names of relations,
// messages.
//
// A control or separator character would break the line where it is shown, and a direction character can show the text
// in another order than it has. The marks that right-to-left text needs are accepted: U+200E, U+200F and U+061C.
func breaksLine(r rune) bool {
	switch {
	case r < 0x20, 0x7F <= r && r <= 0x9F: // C0, DEL, C1
		return true
	case r == 0x2028, r == 0x2029: // line and paragraph separator
		return true
	case 0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069: // embeddings, overrides and isolates
		return true
	}
	return false
}

// breaksMarkdown reports whether a Markdown field refuses the character: C0 but tab and line feed.
func breaksMarkdown(r rune) bool { return r < 0x20 && r != '\t' && r != '\n' }

// CheckLine returns why the text is no one-line field, or "" if it is one.
func CheckLine(s string) string {
	return unwanted(s, breaksLine, "control, separator or direction characters")
}

// CheckMarkdown returns why the text is no Markdown field, or "" if it is one.
func CheckMarkdown(s string) string {
	return unwanted(s, breaksMarkdown, "control characters but tab and line feed")
}

func unwanted(s string, breaks func(rune) bool, what string) string {
	at := strings.IndexFunc(s, breaks)
	if at < 0 {
		return ""
	}
	for _, r := range s[at:] {
		return fmt.Sprintf("must have no %s, has %U", what, r)
	}
	return ""
}

// OneLine replaces each run of characters that a one-line field refuses by one space. An import calls it, because it
// cannot ask the other program for another text, and lists its changes.
func OneLine(s string) string { return spaced(s, breaksLine) }

// PlainMarkdown replaces each run of characters that a Markdown field refuses by one space. It drops a carriage return
// before a line feed.
func PlainMarkdown(s string) string {
	return spaced(strings.ReplaceAll(s, "\r\n", "\n"), breaksMarkdown)
}

func spaced(s string, breaks func(rune) bool) string {
	if strings.IndexFunc(s, breaks) < 0 {
		return s
	}
	var out strings.Builder
	within := false
	for _, r := range s {
		if broken := breaks(r); broken {
			if !within {
				out.WriteByte(' ')
			}
			within = true
			continue
		}
		within = false
		out.WriteRune(r)
	}
	return out.String()
}
