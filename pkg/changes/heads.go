package changes

import "nexus/pkg/changes/token"

// Heads returns for each user the token of the row that was appended last, which an open app is told. It follows all
// types, in the deployment's form.
func Heads(of []Appended, deployment uint16) map[string]string {
	heads := make(map[string]string, len(of))
	for _, a := range of {
		last := a.Rows[len(a.Rows)-1]
		heads[a.User] = token.Token{
			Form: token.FormIn(deployment), Owner: token.OwnerOf(a.User), N: last.N, X: last.X,
		}.String()
	}
	return heads
}
