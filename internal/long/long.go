// Package long tells tests whether to run in their long form. Their short form is the default, so that go test ./... is
// quick; make long asks for the long one.
package long

import (
	"os"
	"testing"
)

// Variable is the environment variable that asks for the long form. Its value does not matter.
const Variable = "NEXUS_LONG"

// Tests reports whether tests run in their long form.
func Tests() bool { return os.Getenv(Variable) != "" }

// Only skips a test that has no short form. It does what is said.
func Only(t testing.TB, does string) {
	t.Helper()
	if !Tests() {
		t.Skipf("%s: in the long form alone (make long)", does)
	}
}
