package local

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The document names each path and method, and no other.
func TestGetOpenAPI_namesEachPath(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]struct{ Summary string } `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(devDocument, &document))
	var described, served []string
	for path, methods := range document.Paths {
		for method, operation := range methods {
			require.NotEmpty(t, operation.Summary)
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	p := &Platform{hub: newHub(), options: Options{Prices: &Prices{}}}
	p.seen = newSeen(p.hub)
	for _, path := range p.devPaths() {
		for method := range path.methods {
			served = append(served, method+" "+strings.Replace(path.pattern, "...}", "}", 1))
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	require.Equal(t, served, described)
}
