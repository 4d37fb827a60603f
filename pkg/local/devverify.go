package local

import (
	"encoding/json"
	"net/http"
	"time"

	"nexus/pkg/verify"
)

// verifyGrace is the pause between the two reads of a possible difference: many times the usual delay of the consumers
// here.
const verifyGrace = 500 * time.Millisecond

// VerifyLine is one line of the answer to POST /dev/verify: exactly one member is there, and the last line has summary
// or error.
type VerifyLine struct {
	Difference *verify.Difference `json:"difference,omitempty"`
	Rows       int64              `json:"rows,omitempty"` // read so far
	Summary    *verify.Summary    `json:"summary,omitempty"`
	Error      string             `json:"error,omitempty"`
}

// postVerify answers with a line of JSON for each difference as it is found. It ends when its client disconnects.
func (p *Platform) postVerify(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		User   string `json:"user"`
		Repair bool   `json:"repair"`
		// Only names the differences of one kind, or with this key. A repair is of all that is wrong with a user: a sum and
		// its ledger rows are put right together.
		Only struct {
			Kind verify.Kind `json:"kind"`
			Key  string      `json:"key"`
		} `json:"only"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	options := verify.Options{User: body.User, Repair: body.Repair}
	if err := options.Check(); err != nil {
		return refusal(http.StatusUnprocessableEntity, "user: %v", err)
	}
	if body.Repair && (body.Only.Kind != "" || body.Only.Key != "") {
		return refusal(http.StatusUnprocessableEntity, "only: a repair is of all that is wrong with a user")
	}
	ctx, cancel := p.whileRunning(r.Context())
	defer cancel()
	tell := linesTo[VerifyLine](w)
	told := time.Now()
	options.Progress = func(rows int64) {
		if now := time.Now(); now.Sub(told) > verifyProgress {
			told = now
			_ = tell(VerifyLine{Rows: rows}) // a client that has disconnected ends the context
		}
	}
	summary, err := p.system.Verifier.Run(ctx, options, func(d verify.Difference) error {
		if body.Only.Kind != "" && d.Kind != body.Only.Kind || body.Only.Key != "" && d.Key != body.Only.Key {
			return nil
		}
		return tell(VerifyLine{Difference: &d})
	})
	last := VerifyLine{Summary: &summary}
	if err != nil {
		p.log.Error("verification ended early", "error", err)
		last = VerifyLine{Error: err.Error()}
	}
	_ = tell(last) // the client may have disconnected
	return nil
}

// linesTo begins an answer of lines of JSON, and returns the function that sends one.
func linesTo[T any](w http.ResponseWriter) (tell func(T) error) {
	goOn(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	out, control := json.NewEncoder(w), http.NewResponseController(w)
	return func(line T) error {
		if err := out.Encode(line); err != nil {
			return err
		}
		return control.Flush()
	}
}

// verifyProgress is the interval of progress lines.
const verifyProgress = 200 * time.Millisecond
