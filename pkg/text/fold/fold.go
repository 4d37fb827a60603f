// Package fold compares texts as people do.
//
// It promises the forms that Unicode defines. It must never know entities. No package that every function links may
// import it: its tables take 260 KB of a program.
package fold

import (
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// String returns the form in which two texts that differ in case or composition alone are equal (Unicode, D145).
func String(s string) string {
	if s == "" {
		return ""
	}
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(s)))
}
