package local

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// maxDevBody bounds the body of a request under /dev/.
const maxDevBody = 4 << 10

// devPath is one path under /dev/ with its handlers by method. A handler's error becomes a problem document.
type devPath struct {
	pattern string
	methods map[string]func(http.ResponseWriter, *http.Request) error
}

func (p *Platform) devPaths() []devPath {
	type methods = map[string]func(http.ResponseWriter, *http.Request) error
	return append(p.seenPaths(), []devPath{
		{"/dev/capabilities", methods{http.MethodGet: p.getCapabilities}},
		{"/dev/openapi.json", methods{http.MethodGet: p.getOpenAPI}},
		{"/dev/derived", methods{http.MethodGet: p.getDerived}},
		{"/dev/users", methods{http.MethodGet: p.getUsers}},
		{"/dev/clock", methods{http.MethodGet: p.getClock, http.MethodPost: p.postClock}},
		{"/dev/settle", methods{http.MethodPost: p.postSettle}},
		{"/dev/events", methods{http.MethodGet: p.getEvents}},
		{"/dev/schedules", methods{http.MethodGet: p.getSchedules}},
		{"/dev/walks", methods{http.MethodGet: p.getWalks, http.MethodPost: p.postWalks}},
		{"/dev/pushes", methods{http.MethodGet: p.getPushes, http.MethodPost: p.postPushes}},
		{"/dev/due", methods{http.MethodGet: p.getDue}},
		{"/dev/parked", methods{http.MethodGet: p.getParked}},
		{"/dev/parked/discard", methods{http.MethodPost: p.postDiscard}},
		{"/dev/parked/redrive", methods{http.MethodPost: p.postRedrive}},
		{"/dev/blobs", methods{http.MethodGet: p.getBlobs}},
		{"/dev/blobs/{name...}", methods{http.MethodGet: p.getBlob}},
		{"/dev/lag", methods{http.MethodGet: p.getLag}},
		{"/dev/metrics", methods{http.MethodGet: p.getMetrics}},
		{"/dev/info", methods{http.MethodGet: p.getInfo}},
		{"/dev/stream", methods{http.MethodGet: p.getStream}},
		{"/dev/hints", methods{http.MethodPost: p.postHints}},
		{"/dev/redeliver", methods{http.MethodPost: p.postRedeliver}},
		{"/dev/erase", methods{http.MethodPost: p.postErase}},
		{"/dev/verify", methods{http.MethodPost: p.postVerify}},
		{"/dev/export", methods{http.MethodPost: p.postExport}},
		{"/dev/import", methods{http.MethodPost: p.postImport}},
		{"/dev/records", methods{http.MethodGet: p.getRecords}},
		{"/dev/replay", methods{http.MethodPost: p.postReplay}},
	}...)
}

// seenPaths are those that read what has happened lately.
func (p *Platform) seenPaths() []devPath {
	if p.seen == nil {
		return nil
	}
	type methods = map[string]func(http.ResponseWriter, *http.Request) error
	paths := []devPath{
		{"/dev/chaos", methods{
			http.MethodGet: p.getChaos, http.MethodPost: p.postChaos, http.MethodDelete: p.deleteChaos,
		}},
		{"/dev/changes", methods{http.MethodGet: p.getChanges}},
		{"/dev/rates", methods{http.MethodGet: p.getRates}},
		{"/dev/trace-id", methods{http.MethodGet: p.getTraceOf}},
		{"/dev/traces/{trace}", methods{http.MethodGet: p.getTrace}},
	}
	if p.options.Prices != nil {
		paths = append(paths, devPath{"/dev/cost", methods{http.MethodGet: p.getCost}})
	}
	return paths
}

// devRoutes serves /dev/.
func (p *Platform) devRoutes() http.Handler {
	mux := http.NewServeMux()
	var patterns []string
	for _, path := range p.devPaths() {
		patterns = append(patterns, path.pattern)
		mux.HandleFunc(path.pattern, func(w http.ResponseWriter, r *http.Request) {
			method := r.Method
			if method == http.MethodHead {
				method = http.MethodGet
			}
			handle, ok := path.methods[method]
			if !ok {
				var allowed []string
				for m := range path.methods {
					allowed = append(allowed, m)
				}
				slices.Sort(allowed)
				w.Header().Set("Allow", strings.Join(allowed, ", "))
				refuseWith(w, &devProblem{http.StatusMethodNotAllowed, "the path answers to " + strings.Join(allowed, " and ")})
				return
			}
			if err := handle(w, r); err != nil {
				p.refuse(w, r, err)
			}
		})
	}
	mux.HandleFunc("/dev/", func(w http.ResponseWriter, _ *http.Request) {
		refuseWith(w, &devProblem{http.StatusNotFound, "there is no such path; there are " + strings.Join(patterns, ", ")})
	})
	return mux
}

// devProblem is an error with its status in an answer.
type devProblem struct {
	status int
	detail string
}

func (e *devProblem) Error() string { return e.detail }

func refusal(status int, format string, args ...any) error {
	return &devProblem{status, fmt.Sprintf(format, args...)}
}

// refuse answers with the problem of the error. Its detail includes internals, because its reader operates the system.
func (p *Platform) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var problem *devProblem
	var unsettled *UnsettledError
	switch {
	case errors.As(err, &problem):
	case errors.As(err, &unsettled):
		problem = &devProblem{http.StatusGatewayTimeout, err.Error()}
	case errors.Is(err, errRealTime):
		problem = &devProblem{http.StatusConflict, err.Error()}
	case errors.Is(err, errBackwards), errors.Is(err, errTooFar), errors.Is(err, errNoLater):
		problem = &devProblem{http.StatusUnprocessableEntity, err.Error()}
	case errors.Is(err, errEnded):
		problem = &devProblem{http.StatusServiceUnavailable, err.Error()}
	default:
		p.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		problem = &devProblem{http.StatusInternalServerError, err.Error()}
	}
	refuseWith(w, problem)
}

// refuseWith answers with a problem document (RFC 9457) of the type that only repeats its status.
func refuseWith(w http.ResponseWriter, e *devProblem) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(e.status)
	_, _ = w.Write(append(line(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{"about:blank", http.StatusText(e.status), e.status, e.detail}), '\n')) // the client may have disconnected
}

// answer sends a value.
func answer(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(line(v), '\n')) // the client may have disconnected
	return nil
}

// readBody decodes a body strictly: it refuses unknown and repeated members, and invalid UTF-8.
func readBody(r *http.Request, into any) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		// A form on a page of another site can send every other type without a preflight.
		return refusal(http.StatusUnsupportedMediaType, "the body has to be application/json")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxDevBody+1))
	if err != nil {
		return refusal(http.StatusBadRequest, "the body breaks off: %v", err)
	}
	if len(body) > maxDevBody {
		return refusal(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", maxDevBody)
	}
	if err := json.Unmarshal(body, into, json.RejectUnknownMembers(true)); err != nil {
		return refusal(http.StatusBadRequest, "%s", unreadable(err))
	}
	return nil
}

// unreadable describes the fault of a body in the client's terms, not in those of the decoder.
func unreadable(err error) string {
	var wrong *json.SemanticError
	switch {
	case !errors.As(err, &wrong):
		return "the body is no valid JSON: " + err.Error()
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Sprintf("the body has no member %.80q", wrong.JSONPointer.LastToken())
	case wrong.JSONPointer == "":
		return "the body has to be a JSON object"
	}
	return fmt.Sprintf("the body's member %.80q is of another kind", wrong.JSONPointer.LastToken())
}
