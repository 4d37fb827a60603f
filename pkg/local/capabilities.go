package local

import (
	_ "embed" // of the document
	"net/http"
)

// capability is one thing that a console may find here.
type capability struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Reason    string `json:"reason,omitempty"`  // why it is missing
	Command   string `json:"command,omitempty"` // that does it instead
}

// getCapabilities lists what a console can do with this system. One for another system may lack any of them.
func (p *Platform) getCapabilities(w http.ResponseWriter, _ *http.Request) error {
	out := struct {
		Items     []capability `json:"items"`
		Consumers []string     `json:"consumers"` // in the order of their readers
	}{}
	for _, r := range p.readers {
		out.Consumers = append(out.Consumers, r.Line.Consumers...)
	}
	for _, name := range []string{"flow", "trace", "changes", "derived", "parked", "verify", "users", "data", "chaos"} {
		out.Items = append(out.Items, capability{Name: name, Available: true})
	}
	clock := capability{Name: "clock", Available: p.backend.sweep != nil}
	if !clock.Available {
		clock.Reason, clock.Command = errRealTime.Error(), "nexus dev --store memory"
	}
	costs := capability{Name: "cost", Available: p.options.Prices != nil}
	if !costs.Available {
		costs.Reason, costs.Command = "the system was started without a price list", "nexus cost"
	}
	out.Items = append(out.Items, clock, costs)
	return answer(w, out)
}

//go:embed dev.openapi.json
var devDocument []byte

// getOpenAPI answers with the description of the paths under /dev/.
func (p *Platform) getOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(devDocument) // the client may have disconnected
	return nil
}
