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
	Request string `placeholder:"ID" xor:"what" help:"The id that a client gave a request."`
	Data    string `placeholder:"DIR" help:"The data directory of a local system, in whose file the pepper is."`
}

// Run prints what the log has in the place of the user's id, or of the request's.
func (c *pseudonymCommand) Run(out outputs) error {
	if c.User == "" && c.Request == "" {
		return wrongUsage("--user or --request is needed")
	}
	if c.User != "" {
		if err := (verify.Options{User: c.User}).Check(); err != nil {
			return wrongUsage("--user: %v", err)
		}
	}
	p, err := c.pepper(out)
	if err != nil {
		return err
	}
	name := p.Pseudonym(c.User)
	if c.Request != "" {
		name = p.Chosen(c.Request)
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
