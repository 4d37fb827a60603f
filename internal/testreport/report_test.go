package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReport_showsFailuresAndCountsEverything(t *testing.T) {
	t.Parallel()
	const events = `{"Action":"build-output","ImportPath":"x/broken","Output":"broken.go:1: no\n"}
{"Action":"run","Package":"x/a","Test":"TestGood"}
{"Action":"output","Package":"x/a","Test":"TestGood","Output":"quiet\n"}
{"Action":"pass","Package":"x/a","Test":"TestGood","Elapsed":0.1}
{"Action":"skip","Package":"x/a","Test":"TestSkipped"}
{"Action":"pass","Package":"x/a","Elapsed":0.2}
{"Action":"output","Package":"x/b","Test":"TestBad","Output":"why\n"}
{"Action":"fail","Package":"x/b","Test":"TestBad"}
{"Action":"output","Package":"x/b","Test":"TestHangs","Output":"stack\n"}
{"Action":"fail","Package":"x/b","Elapsed":1.5}
{"Action":"skip","Package":"x/empty"}
not an event
{"Action":"fail","Package":"x/broken"}
`
	var out strings.Builder
	r := newReport(&out)
	require.NoError(t, r.read(strings.NewReader(events)))
	r.finish()

	require.Equal(t, `broken.go:1: no
ok    x/a  0.2s  (1 passed, 0 failed, 1 skipped)
why
stack
FAIL  x/b  1.5s
not an event
FAIL  x/broken  0.0s

packages: 1 ok, 2 failed
tests: 1 passed, 1 failed, 1 skipped
FAILED: x/b
FAILED: x/broken
`, out.String())
}

func TestRun_exitsWithTheCodeOfGoTest(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	code, err := run([]string{"-run", "^$", "./nowhere"}, &out, &errs)
	require.NoError(t, err)
	require.NotZero(t, code)

	code, err = run([]string{"-run", "^$", "unicode/utf8"}, &out, &errs)
	require.NoError(t, err)
	require.Zero(t, code)
}
