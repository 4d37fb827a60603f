package local

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/api"
	"nexus/pkg/entity"
	"nexus/pkg/limit"
	"nexus/pkg/projection"
)

// Store names the kind of store of the table.
type Store string

const (
	// DynamoDB is the local engine, or the service at Endpoint.
	DynamoDB Store = "dynamodb"
	// Memory is the store in this process. Its data, and the data that belong to it, end with the process.
	Memory Store = "memory"
)

const (
	// DefaultAddr is the default address of the platform: for this machine alone.
	DefaultAddr = "127.0.0.1:8080"
	// DefaultDataDir is the default directory of data, below the working directory.
	DefaultDataDir = ".nexus"
)

// ErrOptions says that the options contradict each other.
var ErrOptions = errors.New("options of the local platform")

// Options configure the platform. The zero Options are the engine with its data in DefaultDataDir.
type Options struct {
	Store Store // empty means DynamoDB
	// DataDir contains the table, the clock, checkpoints, schedules, events and objects. Empty means DefaultDataDir. The
	// memory store and an ephemeral platform have none.
	DataDir string
	// Endpoint is the base URL of another DynamoDB-compatible service that replaces the engine. Time is real then: rows
	// expire when the service removes them, and the clock cannot be moved.
	Endpoint string
	// ShowEndpoint lets GET /dev/info include the engine's address, for other tools on this machine. The engine answers
	// pages of every origin, so the address is shown only if this option was set at the start.
	ShowEndpoint bool
	// Ephemeral puts the data into a temporary directory that is removed at the end.
	Ephemeral bool
	// Addr is the address to listen at; empty means DefaultAddr, port 0 any free one.
	Addr string
	// Expose lets the platform listen beyond the loopback interface. Bearer tokens then need the secret that Token
	// returns, and local-only paths answer this machine alone.
	Expose bool
	// AllowHosts are the accepted host names, in addition to this machine's own. Only with Expose.
	AllowHosts []string
	// Origins are the origins whose pages may call the API from a browser, each as [api.CheckOrigin] accepts it.
	// Local-only paths answer no page of another origin.
	Origins []string
	// NoConsole leaves out the console, and what it reads: the latest changes, spans and rates, which take memory.
	NoConsole bool
	// Collector is the endpoint of an OpenTelemetry collector, such as http://127.0.0.1:4318, that gets all spans; empty
	// for none.
	Collector string
	// Prices let the console price what is used; nil for none.
	Prices *Prices
	// PushService is the address, on this machine, of a push service that takes the place of the platform's own: its
	// endpoints may be called although they are not public. Its messages outlive the platform.
	PushService netip.AddrPort
	// SyncForm is the form of sync tokens: another one makes every device take a new snapshot.
	SyncForm uint16
	// PrivateWebhooks lets webhooks have addresses of this very machine.
	PrivateWebhooks bool
	// Limits are the limits of each user; nil for those of [limit.Default].
	Limits limit.Numbers
	// Settling bounds how long POST /dev/settle, and each stop of a moving clock, waits for the system to become idle; 0
	// means 30 s.
	Settling time.Duration
	// Machine is the clock under the platform's; nil means this machine's. One in another year plays the past: the
	// platform's own can only be moved forward. The stream's records have the time of the store that writes them.
	Machine func() time.Time
	// EraseAgain lets the start look for users whom an older copy of the table has brought back, also if nothing says that
	// it is older. Despite lets it start though the table has users whom it can no longer erase again. With either, the
	// platform answers requests and does nothing by itself: what it would do, it would do for those users, too.
	EraseAgain, Despite bool
	// Types are entity types of another product, beside Nexus's own.
	Types []*entity.Type
	// Projections are projections of another product; they run in the reader of Nexus's own.
	Projections []*projection.Projection
	// Log receives the log, in which each user has a pseudonym (package mask); nil discards it.
	Log *slog.Logger
}

// normal returns the options with defaults filled in, or their faults.
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
	if o.Collector != "" {
		u, err := url.Parse(o.Collector)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return refuse("--otlp: %q is no base URL such as http://127.0.0.1:4318", o.Collector)
		}
		if o.NoConsole {
			return refuse("--otlp goes without --no-console: without the console there are no spans")
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
	if o.Limits == nil {
		o.Limits = limit.Default()
	}
	if o.Machine == nil {
		o.Machine = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// exposure returns the fault of the options on who may reach the platform; "" if there is none.
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
