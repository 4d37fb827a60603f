package changes

import (
	"time"

	"nexus/pkg/changes/token"
)

// Heads returns for each user with an app open at the instant the token of the row that was appended last, which the
// app is told. It follows all types, in the deployment's form.
func Heads(of []Appended, deployment uint16, now time.Time) map[string]string {
	heads := map[string]string{}
	for _, a := range of {
		if !now.Before(a.OpenUntil) {
			continue
		}
		last := a.Rows[len(a.Rows)-1]
		heads[a.User] = token.Token{
			Form: token.FormIn(deployment), Owner: token.OwnerOf(a.User), N: last.N, X: last.X,
		}.String()
	}
	return heads
}
