package stack

import (
	"cmp"
	"net/url"
	"strings"

	"nexus/pkg/api"
)

// scopes returns the scopes one of which a token needs for the side.
func (s Settings) scopes(side api.Side) []string {
	if side == api.SideCommands {
		return s.WriteScopes
	}
	return s.ReadScopes
}

// isExample reports whether the issuer is an example that cannot exist (RFC 2606 §3): it was not set yet.
func (s Settings) isExample() bool {
	address, err := url.Parse(s.Issuer)
	return err == nil && (address.Hostname() == "example.com" || strings.HasSuffix(address.Hostname(), ".example.com"))
}

// subjects returns the form of user ids: that of stages with data if it was not set.
func (s Settings) subjects() api.SubjectForm {
	return cmp.Or(s.SubjectForm, api.LiteralSubjects)
}
