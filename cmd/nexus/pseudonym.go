package main

import (
	"fmt"
	"path/filepath"

	"nexus/pkg/deploy/env"
	"nexus/pkg/local"
	"nexus/pkg/pepper"
	"nexus/pkg/verify"
)

// pseudonymCommand is nexus pseudonym.
type pseudonymCommand struct {
	User    string `placeholder:"USER" xor:"what" help:"A user: the log has the pseudonym in the place of the id."`
	Account string `placeholder:"USER" xor:"what" help:"${pseudonym_account}"`
	Request string `placeholder:"ID" xor:"what" help:"The id that a client gave a request."`
	Data    string `placeholder:"DIR" help:"The data directory of a local system, in whose file the pepper is."`
}

// Run prints what the log has in the place of the user's id, or of the request's, or the name of the user's account.
func (c *pseudonymCommand) Run(out outputs) error {
	if c.User == "" && c.Account == "" && c.Request == "" {
		return wrongUsage("--user, --account or --request is needed")
	}
	for flag, user := range map[string]string{"--user": c.User, "--account": c.Account} {
		if err := (verify.Options{User: user}).Check(); err != nil {
			return wrongUsage("%s: %v", flag, err)
		}
	}
	p, err := c.pepper(out)
	if err != nil {
		return err
	}
	name := p.Pseudonym(c.User)
	switch {
	case c.Request != "":
		name = p.Chosen(c.Request)
	case c.Account != "":
		name = p.Erasure(c.Account)
	}
	fmt.Fprintln(out.results, name)
	return nil
}

// pepper returns the pepper of the data directory, or that of the environment. It is no flag: every user of the
// machine can read a command line.
func (c *pseudonymCommand) pepper(out outputs) (pepper.Pepper, error) {
	if c.Data != "" {
		return pepper.ReadFile(filepath.Join(c.Data, local.PepperFile))
	}
	text := out.getenv(env.Pepper)
	if text == "" {
		return pepper.Pepper{},
			wrongUsage("no pepper: set %s to the deployment's, or name the directory of a local system with --data", env.Pepper)
	}
	p, err := pepper.Parse(text)
	if err != nil {
		return pepper.Pepper{}, wrongUsage("%s: %v", env.Pepper, err)
	}
	return p, nil
}
