package item_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
)

func TestSize_isTheOneThatTheDeveloperGuideCounts(t *testing.T) {
	t.Parallel()
	require.Zero(t, item.Size(nil))
	for name, c := range map[string]struct {
		value item.Value
		want  int // beside the name, of one byte
	}{
		"text":                            {item.String("grüße"), 7},
		"no text":                         {item.String(""), 0},
		"bytes":                           {item.Binary{1, 2, 3}, 3},
		"true":                            {item.Bool(true), 1},
		"null":                            {item.Null{}, 1},
		"zero":                            {item.Number("0"), 1},
		"one digit":                       {item.Number("7"), 2},
		"two digits":                      {item.Number("42"), 2},
		"three digits":                    {item.Number("421"), 3},
		"zeros at the end":                {item.Number("1500"), 2},
		"zeros at the start":              {item.Number("0.0015"), 2},
		"zeros at both ends":              {item.Number("0.0150"), 2},
		"zeros within":                    {item.Number("1005"), 3},
		"below nothing":                   {item.Number("-1500"), 3},
		"an exponent":                     {item.Number("1.5E+3"), 2},
		"a power":                         {item.Number("1" + strings.Repeat("0", 37)), 2},
		"38 digits":                       {item.Number(strings.Repeat("9", 38)), 20},
		"an instant in seconds":           {item.Number("1764590400"), 5},
		"a set of texts":                  {item.StringSet{"ab", "c"}, 3},
		"a set of numbers":                {item.NumberSet{"1500", "7"}, 4},
		"a set of bytes":                  {item.BinarySet{{1}, {2, 3}}, 3},
		"no members":                      {item.List{}, 3},
		"a list":                          {item.List{item.Number("1500"), item.String("ab")}, 3 + 2 + 2 + 2},
		"a map":                           {item.Map{"ab": item.Number("1500")}, 3 + 1 + 2 + 2},
		"a list in a map, with its bytes": {item.Map{"a": item.List{item.Null{}}}, 3 + 1 + 1 + 3 + 1 + 1},
	} {
		require.Equal(t, 1+c.want, item.Size(item.Item{"n": c.value}), name)
	}
}
