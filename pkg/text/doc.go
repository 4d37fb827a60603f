// Package text checks and cleans the texts of fields, shortens texts for messages, and finds the name that a misspelled
// one means.
//
// It promises valid text for valid text. It must never import a package beyond the standard library: every function
// links it.
package text
