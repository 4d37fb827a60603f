package main

import (
	"cmp"
	"net"
	"net/url"
)

// tokenVariable is the environment variable of the bearer token. A command line is visible to all users of the machine
// and stored in the shell's history, so the token is no flag.
const tokenVariable = "NEXUS_TOKEN"

// bearer returns the token for the API at the address: the environment's value. For an API on this machine, which
// trusts every caller, it is the user's id.
func (out outputs) bearer(address, user string) (string, error) {
	if user != "" {
		u, err := url.Parse(address)
		if err != nil || !isThisMachine(u.Hostname()) {
			return "",
				wrongUsage("--user is for a local system, where a user's id is the token; set %s for %s", tokenVariable, address)
		}
	}
	token := cmp.Or(user, out.getenv(tokenVariable))
	if token == "" {
		return "", wrongUsage("no bearer token: set %s, or name a user of a local system with --user", tokenVariable)
	}
	return token, nil
}

func isThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
