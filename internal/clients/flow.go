// Command clients plays a user's flow with the client that oapi-codegen makes of the OpenAPI document. Its address is
// that of a running system, or of a proxy in front of one that checks each request and answer against the document.
// The flow in flow.ts is the same, with the types that openapi-typescript makes. The script run starts both.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"

	"nexus/clients/generated/nexus"
)

func main() {
	url := flag.String("url", "", "the address to ask")
	flag.Parse()
	if err := play(context.Background(), *url); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
	fmt.Println("clients: the flow holds with the client of oapi-codegen")
}

// flow is the flow of one user.
type flow struct {
	*nexus.ClientWithResponses
	ids int
}

func play(ctx context.Context, url string) error {
	asUser := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer go-client")
		return nil
	}
	client, err := nexus.NewClientWithResponses(url, nexus.WithRequestEditorFn(asUser))
	if err != nil {
		return err
	}
	f := &flow{ClientWithResponses: client}
	for _, part := range []struct {
		name string
		play func(context.Context) error
	}{
		{"series", f.series}, {"links", f.links}, {"settings", f.settings}, {"batch", f.batch},
		{"repositories", f.repositories}, {"changes", f.changes},
		{"refusals", f.refusals},
	} {
		if err := part.play(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// uuid returns another id at each call; the store is new.
func (f *flow) uuid() string {
	f.ids++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", f.ids)
}

// answered returns an error unless the answer has the status.
func answered(what string, status int, res *http.Response, body []byte, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if res.StatusCode != status {
		return fmt.Errorf("%s: answered %d, want %d: %s", what, res.StatusCode, status, body)
	}
	return nil
}

// equal returns an error unless both are the same.
func equal[T comparable](what string, want, got T) error {
	if want != got {
		return fmt.Errorf("%s: want %v, got %v", what, want, got)
	}
	return nil
}

func pointer[T any](v T) *T { return &v }

// tag returns the entity tag of a version.
func tag(version int) string { return fmt.Sprintf("%q", fmt.Sprint(version)) }
