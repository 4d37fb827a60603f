package token

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"nexus/pkg/changes/changelog"
)

const (
	// MaxLength bounds a token, in characters of A-Za-z0-9_-.
	MaxLength = 160
	// MaxTypes bounds the types of a token.
	MaxTypes = 20
	// MaxDeployment is the greatest form that a deployment can set.
	MaxDeployment = 1<<16 - 1
)

// Forms of this release's code. A new representation of what a token leads to, or another set of types, gets the next
// number: clients of an earlier form take a new snapshot instead of missing something silently. Release n raises
// understood, and release n+1 current. So a client that release n+1 has served still understands release n after a
// rollback, and takes no second snapshot when release n+1 returns.
const (
	// current is the form in which this release makes tokens.
	current = 1
	// understood is the newest form that this release takes.
	understood = 1
)

// Form is the form of a token: the code's, and the deployment's, which an operator raises when a log may lack entries.
type Form struct {
	Code       uint8
	Deployment uint16
}

// FormIn returns the form in which this release makes tokens in a deployment with the setting.
func FormIn(deployment uint16) Form { return Form{Code: current, Deployment: deployment} }

// Fits reports whether this release takes tokens of the form in a deployment with the setting.
func (f Form) Fits(deployment uint16) bool {
	return current <= f.Code && f.Code <= understood && f.Deployment == deployment
}

// Token is a place in the change log of a user.
type Token struct {
	Form Form
	// Owner is the mark of the user: [OwnerOf].
	Owner uint32
	// N is the number of the last row that was read; 0 for a log that had no row to rely on.
	N int64
	// X are that row's random bits. For N = 0 it is the second of the Unix clock at which the log was read.
	X uint64
	// Types are those that the client follows.
	Types Types
}

// OwnerOf returns 32 bits of a digest of the user's id.
func OwnerOf(user string) uint32 { return mark("user " + user) }

// mark returns 32 bits of a digest.
func mark(text string) uint32 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint32(sum[:])
}

// Empty returns the token of a log that has no row to rely on at the instant.
func Empty(form Form, user string, now time.Time, types Types) Token {
	return Token{Form: form, Owner: OwnerOf(user), X: uint64(max(now.Unix(), 0)), Types: types}
}

// Types is a selection of types, by the marks of their names; nil selects all, also those of later releases.
type Types []uint32

// TypesOf returns the selection of the named types, and all for no names.
func TypesOf(names []string) Types {
	var types Types
	for _, name := range names {
		types = append(types, mark("type "+name))
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// Has reports whether the type is selected.
func (t Types) Has(name string) bool { return t == nil || slices.Contains(t, mark("type "+name)) }

// Equal reports whether two selections are the same.
func (t Types) Equal(other Types) bool { return slices.Equal(t, other) }

// ErrToken says that a text is no token.
var ErrToken = errors.New("no token of a change log")

// Lengths of the parts, in bytes: forms, owner, number, bits, and the digest at the end. A type between has four.
const (
	fixed  = 1 + 2 + 4 + 8 + 8
	digest = 4
)

// String returns the token's text.
func (t Token) String() string {
	raw := make([]byte, 0, fixed+4*len(t.Types)+digest)
	raw = append(raw, t.Form.Code)
	raw = binary.BigEndian.AppendUint16(raw, t.Form.Deployment)
	raw = binary.BigEndian.AppendUint32(raw, t.Owner)
	raw = binary.BigEndian.AppendUint64(raw, uint64(t.N))
	raw = binary.BigEndian.AppendUint64(raw, t.X)
	for _, name := range t.Types {
		raw = binary.BigEndian.AppendUint32(raw, name)
	}
	return base64.RawURLEncoding.EncodeToString(append(raw, sum(raw)...))
}

func sum(raw []byte) []byte {
	all := sha256.Sum256(raw)
	return all[:digest]
}

// Parse is the inverse of [Token.String], or returns [ErrToken].
func Parse(text string) (Token, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	named := len(raw) - fixed - digest
	if err != nil || len(text) > MaxLength || named < 0 || named%4 != 0 || named/4 > MaxTypes {
		return Token{}, ErrToken
	}
	content, end := raw[:len(raw)-digest], raw[len(raw)-digest:]
	if !bytes.Equal(end, sum(content)) {
		return Token{}, ErrToken
	}
	t := Token{
		Form:  Form{Code: content[0], Deployment: binary.BigEndian.Uint16(content[1:])},
		Owner: binary.BigEndian.Uint32(content[3:]),
		N:     int64(binary.BigEndian.Uint64(content[7:])),
		X:     binary.BigEndian.Uint64(content[15:]),
	}
	for rest := content[fixed:]; len(rest) > 0; rest = rest[4:] {
		t.Types = append(t.Types, binary.BigEndian.Uint32(rest))
	}
	rising := slices.IsSorted(t.Types) && len(slices.Compact(slices.Clone(t.Types))) == len(t.Types)
	if t.N < 0 || t.N > changelog.MaxRow || !rising {
		return Token{}, ErrToken
	}
	return t, nil
}
