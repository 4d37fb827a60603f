package main

import (
	"cmp"
	"net"
	"net/url"
)

// tokenVariable is where a bearer token comes from. A command line is shown to everybody on the machine and kept in the
// shell's history, so a token is no flag.
const tokenVariable = "NEXUS_TOKEN"

// bearer returns the token for the API at the address: what the environment says, or the user's id where the API is on
// this machine and believes everybody.
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
