// Command nexus is the command line of the system: it runs it on this machine and shows that it works.
//
// It promises results on standard output and everything else on standard error, and exit code 0 for success, 1 for
// failure and 2 for wrong usage. A first interrupt asks it to finish, a second one ends it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"nexus/internal/cost"
	"nexus/internal/simulate"
	"nexus/pkg/local"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// commands holds all commands of nexus, one field and one file each.
type commands struct {
	Dev  devCommand  `cmd:"" help:"Run the whole system on this machine."`
	Demo demoCommand `cmd:"" help:"Play one user's story on a system of its own and check every effect."`

	Simulate simulateCommand `cmd:"" help:"${simulate}"`

	Cost     costCommand     `cmd:"" help:"Replay a month of the load that the table was designed for and print its bill."`
	Capacity capacityCommand `cmd:"" help:"Tell what bounds a deployment with so many users, and what is reached first."`

	Smoke  smokeCommand  `cmd:"" help:"${smoke}"`
	Verify verifyCommand `cmd:"" help:"${verify}"`
	Erase  eraseCommand  `cmd:"" help:"Erase the account of a user, for good."`

	Record recordCommand `cmd:"" help:"Capture the records of a stream as a fixture."`
	Replay replayCommand `cmd:"" help:"Feed recorded or parked stream records to the consumers."`

	Parked  parkedCommand  `cmd:"" help:"List what consumers could not process."`
	Redrive redriveCommand `cmd:"" help:"Deliver parked records to their consumers again."`

	Expand expandCommand `cmd:"" help:"Show when something that recurs takes place."`
	Import importCommand `cmd:"" help:"Take over iCalendar files."`
	Export exportCommand `cmd:"" help:"Write a user's calendar as iCalendar."`

	Pseudonym pseudonymCommand `cmd:"" help:"Tell what logs have in the place of a user or of a request's id."`

	Completion completionCommand `cmd:"" help:"Print the script that completes command lines in a shell."`

	Version kong.VersionFlag `help:"Print the version and quit."`
}

// outputs holds the writers of a command, and the environment that it reads.
type outputs struct {
	results, messages io.Writer
	env               func(name string) string // nil: this process's
}

func (out outputs) getenv(name string) string {
	if out.env != nil {
		return out.env(name)
	}
	return os.Getenv(name)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, the next has its default effect.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], outputs{results: os.Stdout, messages: os.Stderr})
	stop()
	os.Exit(code)
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, args []string, out outputs) int {
	asked := false // for help, which has been printed then
	parser, err := kong.New(&commands{},
		kong.Name("nexus"),
		kong.Description("The backend of a personal-productivity product, run and tried out on this machine."),
		kong.Vars{"version": version()},
		helpTexts,
		kong.Writers(out.results, out.messages),
		kong.Exit(func(int) { asked = true }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(out),
	)
	if err != nil {
		panic("nexus: " + err.Error()) // the commands above do not fit together
	}
	parsed, err := parser.Parse(args)
	if asked {
		return exitDone
	}
	if err != nil {
		command := parser.Model.FullPath()
		var of *kong.ParseError
		if errors.As(err, &of) && of.Context != nil && of.Context.Selected() != nil {
			command = of.Context.Selected().FullPath()
		}
		fmt.Fprintf(out.messages, "nexus: %v (%s --help says what there is)\n", err, command)
		return exitUsage
	}
	err = parsed.Run()
	var usage *usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage), errors.Is(err, local.ErrOptions), errors.Is(err, simulate.ErrSpec),
		errors.Is(err, cost.ErrOptions), errors.Is(err, cost.ErrPrices):
		fmt.Fprintf(out.messages, "nexus: %v\n", err)
		return exitUsage
	}
	fmt.Fprintf(out.messages, "nexus: %v\n", err)
	return exitFailed
}
