// Package peppertest gives tests a pepper. It must never be used outside tests.
package peppertest

import (
	"strings"
	"testing"

	"nexus/pkg/pepper"
)

// Fixed returns the same pepper in every test.
func Fixed(t testing.TB) pepper.Pepper {
	t.Helper()
	p, err := pepper.Parse(strings.Repeat("5f", pepper.TextLength/2))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
