package entity_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
)

func TestAnItemHasTheSizeThatTheDeveloperGuideCounts(t *testing.T) {
	t.Parallel()
	require.Zero(t, entity.Size(nil))
	for name, c := range map[string]struct {
		value entity.Value
		want  int // beside the name, of one byte
	}{
		"text":                            {entity.String("grüße"), 7},
		"no text":                         {entity.String(""), 0},
		"bytes":                           {entity.Binary{1, 2, 3}, 3},
		"true":                            {entity.Bool(true), 1},
		"null":                            {entity.Null{}, 1},
		"zero":                            {entity.Number("0"), 1},
		"one digit":                       {entity.Number("7"), 2},
		"two digits":                      {entity.Number("42"), 2},
		"three digits":                    {entity.Number("421"), 3},
		"zeros at the end":                {entity.Number("1500"), 2},
		"zeros at the start":              {entity.Number("0.0015"), 2},
		"zeros at both ends":              {entity.Number("0.0150"), 2},
		"zeros within":                    {entity.Number("1005"), 3},
		"below nothing":                   {entity.Number("-1500"), 3},
		"an exponent":                     {entity.Number("1.5E+3"), 2},
		"a power":                         {entity.Number("1" + strings.Repeat("0", 37)), 2},
		"38 digits":                       {entity.Number(strings.Repeat("9", 38)), 20},
		"an instant in seconds":           {entity.Number("1764590400"), 5},
		"a set of texts":                  {entity.StringSet{"ab", "c"}, 3},
		"a set of numbers":                {entity.NumberSet{"1500", "7"}, 4},
		"a set of bytes":                  {entity.BinarySet{{1}, {2, 3}}, 3},
		"no members":                      {entity.List{}, 3},
		"a list":                          {entity.List{entity.Number("1500"), entity.String("ab")}, 3 + 2 + 2 + 2},
		"a map":                           {entity.Map{"ab": entity.Number("1500")}, 3 + 1 + 2 + 2},
		"a list in a map, with its bytes": {entity.Map{"a": entity.List{entity.Null{}}}, 3 + 1 + 1 + 3 + 1 + 1},
	} {
		require.Equal(t, 1+c.want, entity.Size(entity.Item{"n": c.value}), name)
	}
}
