package snapshot

import (
	"fmt"
	"strconv"
	"strings"
)

// At is a row of a user's change log, by its number and its random bits.
type At struct {
	N int64 // at least 1
	X uint64
}

const (
	// Names count down from top, so that the greatest row is the first name.
	top = 1_000_000_000_000
	// digits and bits are the lengths of the parts of a name.
	digits, bits = 12, 16
)

// Root begins the names of everything of all users.
const Root = "snap/"

// folder holds everything of a user.
func folder(user string) string { return Root + user + "/" }

// headsOf holds the first pieces of the user's snapshots of a kind, and piecesOf the others.
func headsOf(user, kind string) string  { return folder(user) + kind + "/" }
func piecesOf(user, kind string) string { return folder(user) + kind + piecesMark }

// piecesMark ends the name of a folder of further pieces.
const piecesMark = "-pieces/"

func (a At) name() string { return fmt.Sprintf("%0*d-%0*x", digits, top-a.N, bits, a.X) }

func (a At) piece(user, kind string, n int) string {
	if n == 0 {
		return headsOf(user, kind) + a.name()
	}
	return fmt.Sprintf("%s%s-%02d", piecesOf(user, kind), a.name(), n)
}

// parse is the inverse of name.
func parse(text string) (At, bool) {
	number, x, ok := strings.Cut(text, "-")
	down, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		return At{}, false
	}
	a := At{N: top - down}
	if a.X, err = strconv.ParseUint(x, 16, 64); err != nil {
		return At{}, false
	}
	return a, a.N >= 1 && a.N < top && a.name() == text
}
