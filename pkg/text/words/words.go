// Package words divides texts into the words that a search compares.
//
// It promises that a word is a segment by Unicode's default rules (UAX #29) that has a letter or a digit. Its folded
// form has no case and no nonspacing marks, and its characters are in the compatibility form. So "Résumé", "RESUME" and
// "ｒｅｓｕｍｅ" are one word. It must never know entities. No package that every function links may import it: its tables
// take 400 KB of a program.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"nexus/pkg/text"
)

// Split returns the words of a text in their order.
func Split(s string) []text.Word {
	var out []text.Word
	for it := words.FromString(s); it.Next(); {
		if segment := it.Value(); isWord(segment) {
			if folded := Fold(segment); folded != "" {
				out = append(out, text.Word{Folded: folded, From: it.Start(), To: it.End()})
			}
		}
	}
	return out
}

func isWord(segment string) bool {
	return strings.ContainsFunc(segment, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// Fold returns the form in which words are compared.
func Fold(s string) string {
	if isPlain(s) {
		return strings.ToLower(s)
	}
	folded := norm.NFKD.String(cases.Fold().String(norm.NFKD.String(s)))
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, folded))
}

// isPlain reports whether a text is of ASCII alone, which nothing but case changes.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
