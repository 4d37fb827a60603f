// Command notice writes NOTICE: the licences of all code of others that the functions and the command line contain. It
// copies the modules' own files and interprets none. It needs the modules, and no network.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	packages, err := shipped(ctx, ".")
	if err != nil {
		return err
	}
	text, err := notice(packages)
	if err != nil {
		return err
	}
	return os.WriteFile("NOTICE", []byte(text), 0o644)
}
