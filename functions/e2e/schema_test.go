package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// schema is as much of JSON Schema as the published events use.
type schema struct {
	ID         string            `json:"$id"`
	Ref        string            `json:"$ref"`
	Type       string            `json:"type"`
	Const      any               `json:"const"`
	Pattern    string            `json:"pattern"`
	MinLength  *int              `json:"minLength"`
	MaxLength  *int              `json:"maxLength"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
	Required   []string          `json:"required"`
	Properties map[string]schema `json:"properties"`
	Defs       map[string]schema `json:"$defs"`
}

// requireSchema holds the detail of an event against the schema of its type, which has to describe every member.
func requireSchema(t *testing.T, detailType string, detail map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "events", detailType+".schema.json"))
	require.NoError(t, err)
	var root schema
	require.NoError(t, json.Unmarshal(text, &root))
	require.Equal(t, detailType+".schema.json", root.ID)
	root.check(t, root, "", detail)
}

func (s schema) check(t *testing.T, root schema, at string, value any) {
	t.Helper()
	if s.Ref == "#/$defs/instant" {
		s = root.Defs["instant"]
	}
	if s.Const != nil {
		require.Equal(t, s.Const, value, "%s", at)
		return
	}
	switch s.Type {
	case "object":
		members, ok := value.(map[string]any)
		require.True(t, ok, "%s", at)
		for _, name := range s.Required {
			require.Contains(t, members, name, "%s", at)
		}
		for name, member := range members {
			described, ok := s.Properties[name]
			require.True(t, ok, "%s/%s is not described", at, name)
			described.check(t, root, at+"/"+name, member)
		}
	case "string":
		text, ok := value.(string)
		require.True(t, ok, "%s", at)
		require.Regexp(t, regexp.MustCompile(s.Pattern), text, "%s", at)
		require.True(t, (s.MinLength == nil || len(text) >= *s.MinLength) &&
			(s.MaxLength == nil || len([]rune(text)) <= *s.MaxLength), "%s", at)
	case "integer":
		number, ok := value.(float64)
		require.True(t, ok, "%s", at)
		require.True(t, (s.Minimum == nil || number >= *s.Minimum) && (s.Maximum == nil || number <= *s.Maximum), "%s", at)
	case "boolean":
		require.IsType(t, true, value, "%s", at)
	default:
		require.Fail(t, "unknown type in the schema", "%s: %q", at, s.Type)
	}
}
