package alarm_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file carries out metric math as the CloudWatch User Guide describes it ("Using metric math"): the operators,
// FILL and IF that alarms use here, each with the guide's own examples as a test.

// series is a time series: one value a period, nil where there is none.
type series []*float64

// math is an expression being carried out. The guide does not say what FILL makes of a series without any value, so
// scenarios are played both ways.
type math struct {
	*testing.T
	tokens    []string
	metrics   map[string]series
	periods   int
	fillsNone bool
}

// operand is a scalar or a series.
type operand struct {
	scalar float64
	values series // nil for a scalar
}

var token = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*|[0-9.]+|==|!=|<=|>=|[-<>+*/(),]`)

// evaluated returns the series that an expression makes of its metrics.
func evaluated(t *testing.T, expression string, metrics map[string]series, fillsNone bool) series {
	t.Helper()
	m := &math{T: t, tokens: token.FindAllString(expression, -1), metrics: metrics, fillsNone: fillsNone}
	for _, values := range metrics {
		m.periods = len(values)
	}
	require.Equal(t, strings.ReplaceAll(expression, " ", ""), strings.Join(m.tokens, ""), "what is between the tokens")
	out := m.level(0)
	require.Empty(t, m.tokens, "the rest of %s", expression)
	require.NotNil(t, out.values, "%s is a scalar", expression)
	return out.values
}

func (m *math) next() string {
	m.Helper()
	require.NotEmpty(m, m.tokens, "the expression ends too early")
	first := m.tokens[0]
	m.tokens = m.tokens[1:]
	return first
}

func (m *math) take(want string) {
	m.Helper()
	require.Equal(m, want, m.next())
}

// levels are the operators, those that bind least first.
func levels() [][]string {
	return [][]string{{"OR"}, {"AND"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/"}}
}

func (m *math) level(n int) operand {
	m.Helper()
	if n == len(levels()) {
		return m.single()
	}
	left := m.level(n + 1)
	for len(m.tokens) > 0 && slices.Contains(levels()[n], m.tokens[0]) {
		operator := m.next()
		left = m.combined(operator, left, m.level(n+1))
	}
	return left
}

func (m *math) single() operand {
	m.Helper()
	switch first := m.next(); {
	case first == "(":
		out := m.level(0)
		m.take(")")
		return out
	case first == "FILL":
		return m.fill(m.arguments())
	case first == "IF":
		return m.choose(m.arguments())
	case m.metrics[first] != nil:
		return operand{values: m.metrics[first]}
	default:
		n, err := strconv.ParseFloat(first, 64)
		require.NoError(m, err, "neither a number, a metric nor a function")
		return operand{scalar: n}
	}
}

func (m *math) arguments() []operand {
	m.Helper()
	m.take("(")
	var out []operand
	for {
		out = append(out, m.level(0))
		if end := m.next(); end == ")" {
			return out
		} else if end != "," {
			require.Fail(m, "arguments", "%q between them", end)
		}
	}
}

// combined applies an operator. A value that one of two series lacks counts as 0. A series keeps its gaps beside a
// scalar. A division by zero drops the data point.
func (m *math) combined(operator string, a, b operand) operand {
	m.Helper()
	if a.values == nil && b.values == nil {
		return operand{scalar: *calculated(operator, a.scalar, b.scalar)}
	}
	out := make(series, m.periods)
	for i := range out {
		x, y := a.at(i), b.at(i)
		if x == nil && y == nil || x == nil && b.values == nil || y == nil && a.values == nil {
			continue
		}
		out[i] = calculated(operator, orZero(x), orZero(y))
	}
	return operand{values: out}
}

// at is the value of a period; a scalar's is the same in each.
func (o operand) at(i int) *float64 {
	if o.values == nil {
		return &o.scalar
	}
	return o.values[i]
}

func orZero(value *float64) float64 {
	if value == nil {
		return 0
	}
	return *value
}

func calculated(operator string, a, b float64) *float64 {
	truth := map[bool]float64{true: 1}
	out, known := map[string]float64{
		"+": a + b, "-": a - b, "*": a * b, "==": truth[a == b], "!=": truth[a != b], "<": truth[a < b], ">": truth[a > b],
		"<=": truth[a <= b], ">=": truth[a >= b], "AND": truth[a != 0 && b != 0], "OR": truth[a != 0 || b != 0],
	}[operator]
	if operator == "/" && b != 0 {
		out, known = a/b, true
	}
	if !known {
		return nil
	}
	return &out
}

func (m *math) fill(arguments []operand) operand {
	m.Helper()
	require.Len(m, arguments, 2)
	values := arguments[0].values
	if !m.fillsNone && !slices.ContainsFunc(values, func(v *float64) bool { return v != nil }) {
		return arguments[0]
	}
	out := slices.Clone(values)
	for i, value := range out {
		if value == nil {
			out[i] = arguments[1].at(i)
		}
	}
	return operand{values: out}
}

// choose is IF: where the condition holds and the value is not there, the result is 0; where it does not hold and there
// is no other value, or where it is not there itself, the data point is dropped.
func (m *math) choose(arguments []operand) operand {
	m.Helper()
	require.Contains(m, []int{2, 3}, len(arguments))
	out := make(series, m.periods)
	for i := range out {
		switch condition := arguments[0].at(i); {
		case condition == nil:
		case *condition != 0:
			value := orZero(arguments[1].at(i))
			out[i] = &value
		case len(arguments) == 3:
			out[i] = arguments[2].at(i)
		}
	}
	return operand{values: out}
}

// written reads a series as the guide prints it: "30, -, 0".
func written(t *testing.T, text string) series {
	t.Helper()
	var out series
	for value := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if strings.TrimSpace(value) == "-" {
			out = append(out, nil)
			continue
		}
		require.NoError(t, err)
		out = append(out, &n)
	}
	return out
}

func (s series) String() string {
	var out []string
	for _, value := range s {
		if value == nil {
			out = append(out, "-")
		} else {
			out = append(out, fmt.Sprint(*value))
		}
	}
	return strings.Join(out, ", ")
}

func TestMath_isThatOfTheGuidesExamples(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expression, want string
		metrics          map[string]string
	}{
		{"(m1 < m2)", "0, 0, 1, 0", map[string]string{"m1": "30, 20, 0, 0", "m2": "20, -, 20, -"}},
		{"(m1 >= 30)", "1, 0, 0, 0", map[string]string{"m1": "30, 20, 0, 0"}},
		{"(m1 > 15 AND m2 > 15)", "1, 0, 0, 0", map[string]string{"m1": "30, 20, 0, 0", "m2": "20, -, 20, -"}},
		{"IF(m1, m2, m3)", "30, 0, 20, -, -",
			map[string]string{"m1": "1, 1, 0, 0, -", "m2": "30, -, 0, 0, 30", "m3": "0, 0, 20, -, 20"}},
		{"IF(m1, 5, m3)", "5, 5, 20, -, -", map[string]string{"m1": "1, 1, 0, 0, -", "m3": "0, 0, 20, -, 20"}},
		{"IF(m1, m2, 5)", "30, 0, 5, 5, -", map[string]string{"m1": "1, 1, 0, 0, -", "m2": "30, -, 0, 0, 30"}},
		{"IF(m1 < 400, m1)", "30, -, -", map[string]string{"m1": "30, 400, -"}},
		{"FILL(m1, 10)", "1, 10, 2", map[string]string{"m1": "1, -, 2"}},
		{"m1 / m2", "2, -, 0", map[string]string{"m1": "4, 4, -", "m2": "2, 0, 3"}},
		{"100 * m1 - m2", "98, 197, -3", map[string]string{"m1": "1, 2, -", "m2": "2, 3, 3"}},
	} {
		metrics := map[string]series{}
		for name, text := range maps.All(c.metrics) {
			metrics[name] = written(t, text)
		}
		require.Equal(t, c.want, evaluated(t, c.expression, metrics, true).String(), c.expression)
	}
	none := map[string]series{"m1": written(t, "-, -")}
	require.Equal(t, "0, 0", evaluated(t, "FILL(m1, 0)", none, true).String())
	require.Equal(t, "-, -", evaluated(t, "FILL(m1, 0)", none, false).String())
}
