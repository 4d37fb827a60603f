package local

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/api"
	"nexus/pkg/entity"
	"nexus/pkg/projection"
)

// Store names what the table is kept in.
type Store string

const (
	// DynamoDB is the local engine, or what Endpoint names.
	DynamoDB Store = "dynamodb"
	// Memory is the store in this process. Nothing of it, nor of what goes with it, outlives the process.
	Memory Store = "memory"
)

const (
	// DefaultAddr is where the platform listens unless told otherwise: for this machine alone.
	DefaultAddr = "127.0.0.1:8080"
	// DefaultDataDir is where data are kept, below the working directory.
	DefaultDataDir = ".nexus"
)

// ErrOptions: the options contradict each other.
var ErrOptions = errors.New("options of the local platform")

// Options say what platform to start. The zero Options are the engine with its data in DefaultDataDir.
type Options struct {
	Store Store // empty means DynamoDB
	// DataDir keeps the table, the clock, checkpoints, schedules, events and objects. Empty means DefaultDataDir. The
	// memory store and an ephemeral platform have none.
	DataDir string
	// Endpoint is the base URL of another DynamoDB-compatible service to use in the engine's place. Time is real then:
	// rows expire when the service removes them, and the clock cannot be moved.
	Endpoint string
	// ShowEndpoint lets GET /dev/info tell the engine's address, for other tools on this machine. The engine answers pages
	// of every origin, so the address is told only when it was asked for at the start.
	ShowEndpoint bool
	// Ephemeral keeps the data in a temporary directory that is removed at the end.
	Ephemeral bool
	// Addr is where to listen; empty means DefaultAddr, port 0 any free one.
	Addr string
	// Expose lets the platform listen beyond the loopback interface. Bearer tokens then need the secret that Token
	// returns, and what is local only answers this machine alone.
	Expose bool
	// AllowHosts are the hosts, beside this machine's own names, under which it may be asked. Only with Expose.
	AllowHosts []string
	// Origins are those whose pages a browser lets call the API, each as [api.CheckOrigin] accepts it. What is local only
	// answers no page of another origin.
	Origins []string
	// Settling is how long POST /dev/settle, and each stop of a moving clock, waits for the system to settle; 0 means 30
	// s.
	Settling time.Duration
	// Machine is the clock that the platform's runs on; nil means this machine's. One that stands in another year plays
	// the past: the platform's own can only be moved forward. The stream's records keep the time of the store that writes
	// them.
	Machine func() time.Time
	// Types are entity types of another product, beside Nexus's own.
	Types []*entity.Type
	// Projections are projections of another product; they run in the reader of Nexus's own.
	Projections []*projection.Projection
	// Log receives what happens; nil discards it.
	Log *slog.Logger
}

// normal returns the options with defaults filled in, or what is wrong with them.
func (o Options) normal() (Options, error) {
	refuse := func(format string, args ...any) (Options, error) {
		return Options{}, fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
	}
	if o.Store == "" {
		o.Store = DynamoDB
	}
	switch {
	case o.Store != DynamoDB && o.Store != Memory:
		return refuse("store %q is neither %s nor %s", o.Store, DynamoDB, Memory)
	case o.Store == Memory && o.Endpoint != "":
		return refuse("the memory store has no endpoint")
	case o.Store == Memory && o.DataDir != "":
		return refuse("the memory store keeps no data, so it has no data directory")
	case o.Store == Memory && o.ShowEndpoint:
		return refuse("the memory store has no engine, so there is no endpoint to show")
	case o.Ephemeral && o.DataDir != "":
		return refuse("an ephemeral platform keeps no data, so it has no data directory")
	}
	if o.Endpoint != "" {
		u, err := url.Parse(o.Endpoint)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || (u.Path != "" && u.Path != "/") {
			return refuse("endpoint %q is no base URL such as http://127.0.0.1:8000", o.Endpoint)
		}
	}
	if o.DataDir == "" {
		o.DataDir = DefaultDataDir
	}
	if o.Addr == "" {
		o.Addr = DefaultAddr
	}
	if _, port, err := net.SplitHostPort(o.Addr); err != nil || !isPort(port) {
		return refuse("address %q is no host and port such as %s", o.Addr, DefaultAddr)
	}
	if refused := o.exposure(); refused != "" {
		return refuse("%s", refused)
	}
	for _, origin := range o.Origins {
		if err := api.CheckOrigin(origin); err != nil {
			return refuse("--cors: %v", err)
		}
	}
	if o.Settling <= 0 {
		o.Settling = settleBound
	}
	if o.Machine == nil {
		o.Machine = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// exposure says what is wrong with who may reach the platform; "" if nothing is.
func (o Options) exposure() string {
	host, _, _ := net.SplitHostPort(o.Addr) // it was checked before
	switch {
	case !o.Expose && !isLoopback(host):
		return fmt.Sprintf(
			"address %q is reached from other machines: --expose allows that, and tells the token that they need", o.Addr)
	case !o.Expose && len(o.AllowHosts) > 0:
		return "--allow-host goes with --expose"
	case o.Expose && len(o.AllowHosts) == 0:
		return "--expose needs --allow-host: the host that other machines ask for, such as 192.168.1.5 or nexus.example"
	}
	for _, name := range o.AllowHosts {
		if name == "" || strings.ContainsAny(name, "*/@ ") {
			return fmt.Sprintf("host %q is no host such as 192.168.1.5 or nexus.example", name)
		}
	}
	return ""
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}
