package token

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nexus/pkg/changes/changelog"
)

func someToken(t *rapid.T) Token {
	names := rapid.SliceOfN(rapid.StringMatching(`[A-Z_]{1,12}`), 0, MaxTypes).Draw(t, "types")
	return Token{
		Form:  Form{rapid.Uint8().Draw(t, "code"), rapid.Uint16().Draw(t, "deployment")},
		Owner: OwnerOf(rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "user")),
		N:     rapid.Int64Range(0, changelog.MaxRow).Draw(t, "n"), X: rapid.Uint64().Draw(t, "x"), Types: TypesOf(names),
	}
}

func TestToken_isReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	allowed := regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_-]{1,%d}$`, MaxLength))
	rapid.Check(t, func(t *rapid.T) {
		want := someToken(t)
		require.Regexp(t, allowed, want.String())
		got, err := Parse(want.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestParse_refusesATextThatIsNoToken(t *testing.T) {
	t.Parallel()
	good := Token{Form: FormIn(3), Owner: OwnerOf("ann"), N: 7, X: 9, Types: TypesOf([]string{"TASK", "NOTE"})}.String()
	for i := range len(good) {
		require.ErrorIs(t, refused(good[:i]), ErrToken, "cut at %d", i)
		for _, c := range "Aa0-é= " {
			if changed := good[:i] + string(c) + good[i+1:]; changed != good {
				require.ErrorIs(t, refused(changed), ErrToken, changed)
			}
		}
	}
	for _, text := range []string{"", "0", good + good, good + "A", good + "AAAA", "undefined", "null"} {
		require.ErrorIs(t, refused(text), ErrToken, text)
	}
	for _, broken := range []Token{{N: changelog.MaxRow + 1}, {N: -1}, {Types: Types{2, 1}}, {Types: Types{1, 1}}} {
		require.ErrorIs(t, refused(broken.String()), ErrToken, "%v", broken)
	}
}

func refused(text string) error {
	_, err := Parse(text)
	return err
}

func TestTypes_selectTheNamed(t *testing.T) {
	t.Parallel()
	require.True(t, TypesOf(nil).Has("ANYTHING"))
	two := TypesOf([]string{"TASK", "NOTE", "TASK"})
	require.Len(t, two, 2)
	require.True(t, two.Has("NOTE"))
	require.False(t, two.Has("EVENT"))
	require.True(t, two.Equal(TypesOf([]string{"NOTE", "TASK"})))
	require.False(t, two.Equal(TypesOf(nil)), "types of later releases are not among them")
}

func TestEmpty_namesTheInstantInsteadOfARow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	got := Empty(FormIn(0), "ann", now, nil)
	require.Zero(t, got.N)
	require.EqualValues(t, now.Unix(), got.X)
	require.NotEqual(t, Empty(FormIn(0), "bob", now, nil), got)
}

// releases have the form that each release understood: add only.
var releases = []struct {
	name       string
	understood int
}{
	{"the first release with a feed", 1},
}

// A form that is used before every function of the release before understands it resets all clients again after a
// rollback.
func TestForm_isMadeOnlyOnceTheReleaseBeforeUnderstandsIt(t *testing.T) {
	t.Parallel()
	before := releases[len(releases)-1]
	require.LessOrEqual(t, current, before.understood, "not understood by %s", before.name)
	require.LessOrEqual(t, before.understood, understood, "%s understands more", before.name)
}

func TestForm_fitsItsDeploymentAndThisRelease(t *testing.T) {
	t.Parallel()
	require.True(t, FormIn(4).Fits(4))
	require.False(t, FormIn(4).Fits(5))
	require.False(t, FormIn(5).Fits(4))
	require.False(t, Form{Code: current - 1}.Fits(0))
	require.True(t, Form{Code: understood}.Fits(0))
	require.False(t, Form{Code: understood + 1}.Fits(0))
}
