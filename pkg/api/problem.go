package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"nexus/pkg/entity"
)

// Problem is a problem document (RFC 9457).
type Problem struct {
	// Type is a stable URI reference for programs to decide on.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail is for people, about this one request.
	Detail string `json:"detail"`
	// Errors lists all faults of the request's content, each with its place as a JSON Pointer (RFC 6901): into the body,
	// or for a parameter / and its name.
	Errors []Fault `json:"errors,omitempty"`
	// CurrentVersion is the entity's present version, after a failed precondition.
	CurrentVersion *int64 `json:"currentVersion,omitempty"`
	// Current is that entity, as its own GET answers it. CurrentOmitted replaces it if the answer had no room.
	Current        json.RawMessage `json:"current,omitempty"`
	CurrentOmitted bool            `json:"currentOmitted,omitempty"`
	// CurrentRevID is the id of a repository's present head, if the parent is another; absent if there is no revision
	// yet.
	CurrentRevID string `json:"currentRevId,omitempty"`
	// PrunedUntil is the instant from which on a repository's history is unbroken, if something older was asked for.
	PrunedUntil string `json:"prunedUntil,omitempty"`
	// Reason is why an existing entity left (deleted, expired), or a token is good no more (expired, unknown, form).
	Reason string `json:"reason,omitempty"`
	// Quota names what the user has too many of, with the most that there may be and those that there are.
	Quota string `json:"quota,omitempty"`
	Limit *int   `json:"limit,omitempty"`
	Used  *int   `json:"used,omitempty"`
	// Points is the number of points that a request needs, if the full bucket holds fewer: Limit.
	Points int `json:"points,omitempty"`
	// EraseAt is when an account that leaves is to be erased.
	EraseAt string `json:"eraseAt,omitempty"`
	// RetryAfter is the header of the same name, for the results of a batch.
	RetryAfter int `json:"retryAfter,omitempty"`

	header http.Header // to send along
	cause  error       // for the log, never for the client
}

// Fault is one fault of a request's content.
type Fault struct {
	entity.FieldError
	// Rule names the broken rule, for programs, and Subject the id of the offending part: a node, an action, a block.
	// Only commits to a repository have them.
	Rule    string `json:"rule,omitempty"`
	Subject string `json:"subject,omitempty"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// Unwrap returns the error for the log.
func (p *Problem) Unwrap() error { return p.cause }

// problemsPath begins the types of all problems.
const problemsPath = "/problems/"

// problemKind is one type of problem.
type problemKind struct {
	slug   string
	status int
	title  string
	doc    string
}

// The types of problems. A slug is part of the contract.
var (
	malformed = problemKind{
		"malformed-request", http.StatusBadRequest, "Malformed request", "The request cannot be read: the JSON text, a " +
			"header, a query parameter's name, or the cursor. The detail says where.",
	}
	unauthenticated = problemKind{
		"unauthenticated", http.StatusUnauthorized, "Authentication required",
		"There is no bearer token, it is not accepted, or it names no user.",
	}
	reauthenticate = problemKind{
		"reauthenticate", http.StatusUnauthorized, "Sign-in too old", "The operation needs a token whose user signed in a " +
			"short time ago: auth_time says when. WWW-Authenticate names the greatest age (RFC 9470).",
	}
	insufficientScope = problemKind{
		"insufficient-scope", http.StatusForbidden, "Token without the scope", "The token is good, and does not permit " +
			"this request: reading and changing have scopes of their own. Ask the issuer for one with the scope (RFC 6750).",
	}
	accountLeaving = problemKind{
		"account-leaving", http.StatusForbidden, "Account leaves", "The user has asked for the account to be erased, so " +
			"that it cannot be changed. eraseAt says when. A client keeps what it has, and what waits to be sent.",
	}
	accountErased = problemKind{
		"account-erased", http.StatusForbidden, "Account erased", "The account is being erased, or was. A client keeps " +
			"what it has until its user says otherwise.",
	}
	notFound = problemKind{"not-found", http.StatusNotFound, "Not found", "There is no such resource for this " +
		"user. What belongs to somebody else does not exist either, as the target of a link neither."}
	methodNotAllowed = problemKind{
		"method-not-allowed", http.StatusMethodNotAllowed, "Method not allowed",
		"The resource exists and has other methods: those of the Allow header.",
	}
	stateConflict = problemKind{
		"state-conflict", http.StatusConflict, "Conflict with the present state",
		"The entity is in a state in which the request has no meaning: it exists already, is done already, or has not left.",
	}
	headMoved = problemKind{
		"head-moved", http.StatusConflict, "The repository has moved on", "parentRevId is not the present revision: " +
			"somebody committed meanwhile; currentRevId says which it is, and is absent if there is none. Read it, and decide " +
			"anew. Nothing was written.",
	}
	preconditionFailed = problemKind{
		"precondition-failed", http.StatusPreconditionFailed, "The entity has changed", "If-Match names a version from " +
			"before the last change of a user, or one that the entity has not come to. currentVersion is its version now, and " +
			"current is the entity as it is now. Decide anew.",
	}
	gone = problemKind{"gone", http.StatusGone, "Gone", "What the request is about was there and left. " +
		"The reason is deleted, by its user and for good, or expired. What has expired has a copy: GET /v1/archive lists " +
		"it, and POST /v1/archive/{id}/restore brings it back."}
	syncReset = problemKind{
		"sync-reset", http.StatusGone, "A new snapshot is needed", "The token of /v1/changes is good no more. The reason " +
			"is expired, unknown or form. Take a snapshot beside the copy, exchange the two, and keep " +
			"what waits to be sent.",
	}
	pruned = problemKind{
		"pruned", http.StatusGone, "Pruned", "The revision was pruned from the history, or the history at that instant. " +
			"prunedUntil says from when on it is unbroken, and is absent if all of it was removed.",
	}
	tooMany = problemKind{
		"too-many-requests", http.StatusTooManyRequests, "Too many requests",
		"The user has asked for something costly too often. Wait for the seconds of Retry-After.",
	}
	rateLimited = problemKind{
		"rate-limited", http.StatusTooManyRequests, "Rate limit reached", "The user has used up a rate: RateLimit-Policy " +
			"names it. Nothing was done. Wait for the seconds of Retry-After, in a batch of retryAfter.",
	}
	quotaReached = problemKind{
		"quota-reached", http.StatusConflict, "Quota reached", "The user has as many as one may have: quota says of what. " +
			"Nothing was written. Delete some, and try again.",
	}
	historyFull = problemKind{
		"history-full", http.StatusConflict, "History full", "The repository has as many revisions as it may have. Nothing " +
			"was written. Prune its history, and try again.",
	}
	exceedsRate = problemKind{
		"exceeds-rate", http.StatusRequestEntityTooLarge, "More than the rate holds", "The batch or import needs more " +
			"points than the full bucket holds: points and limit say how many. Nothing was done, and waiting does not help. " +
			"Send it in parts.",
	}
	tooLarge = problemKind{
		"content-too-large", http.StatusRequestEntityTooLarge, "Content too large",
		"The body is longer than the operation takes.",
	}
	unsupportedMedia = problemKind{
		"unsupported-media-type", http.StatusUnsupportedMediaType, "Unsupported media type",
		"A body is application/json in UTF-8, a patch application/merge-patch+json as well; not compressed.",
	}
	invalid = problemKind{
		"validation-failed", http.StatusUnprocessableEntity, "Invalid content",
		"The request can be read and breaks rules: errors names all of them.",
	}
	tooManyItems = problemKind{
		"too-many-items", http.StatusUnprocessableEntity, "Too many items to search", "The user has more items, or longer " +
			"texts, than a search can hold. The lists answer as ever.",
	}
	keyReused = problemKind{
		"idempotency-key-reused", http.StatusUnprocessableEntity, "Idempotency key used before",
		"The idempotency key was used for another request: in the last 24 hours, or as the id of a command in a batch in " +
			"the last 90 days.",
	}
	dependencyFailed = problemKind{
		"dependency-failed", http.StatusFailedDependency, "The command that it follows failed", "Only in the results of a " +
			"batch: the command that expectedAfter names was not carried out, so this one was not tried. Behind one that was " +
			"not carried out for the time being, the answer is 503.",
	}
	preconditionNeeded = problemKind{
		"precondition-required", http.StatusPreconditionRequired, "Precondition required",
		"The operation changes an existing entity and needs If-Match with the version that the client has seen.",
	}
	internal = problemKind{
		"internal-error", http.StatusInternalServerError, "Internal error",
		"Something is wrong here, not with the request. X-Request-Id names the request to those who can look.",
	}
	unavailable = problemKind{
		"unavailable", http.StatusServiceUnavailable, "Try again", "The request could not be carried out now. Repeat it " +
			"after the seconds of Retry-After; under an idempotency key, where the operation takes one, that is always safe.",
	}
)

func problemKinds() []problemKind {
	return []problemKind{
		malformed, unauthenticated, insufficientScope, reauthenticate, accountLeaving, accountErased,
		notFound, methodNotAllowed, stateConflict, headMoved, quotaReached, historyFull, gone,
		syncReset, pruned, preconditionFailed,
		tooLarge, exceedsRate, unsupportedMedia, invalid, tooManyItems, keyReused, dependencyFailed,
		preconditionNeeded, rateLimited, tooMany, internal, unavailable,
	}
}

func (k problemKind) uri() string { return problemsPath + k.slug }

// refuse makes a problem.
func refuse(k problemKind, format string, args ...any) *Problem {
	p := &Problem{Type: k.uri(), Title: k.title, Status: k.status, Detail: fmt.Sprintf(format, args...)}
	switch k.status {
	case http.StatusUnauthorized:
		return p.with("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		return p.with("Retry-After", "1")
	}
	return p
}

// refuseFields makes the problem of invalid content.
func refuseFields(errs ...entity.FieldError) *Problem {
	faults := make([]Fault, len(errs))
	for i, e := range errs {
		faults[i] = Fault{FieldError: e}
	}
	return refuseFaults(faults)
}

func refuseFaults(faults []Fault) *Problem {
	p := refuse(invalid, "%s", summary(faults))
	p.Errors = faults
	return p
}

// summary is for clients that show only the detail: the single fault, or the number of faults.
func summary(errs []Fault) string {
	if len(errs) != 1 {
		return fmt.Sprintf("%d rules are broken: see errors.", len(errs))
	}
	where := errs[0].Pointer
	if where == "" {
		where = "The content"
	}
	text := where + " " + errs[0].Detail
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

func (p *Problem) with(header, value string) *Problem {
	if p.header == nil {
		p.header = http.Header{}
	}
	p.header.Set(header, value)
	return p
}

func (p *Problem) because(err error) *Problem {
	p.cause = err
	return p
}

// json returns the document. Its members always have a JSON form. It inserts the entity's JSON unchanged: a second
// encoding would only make it longer.
func (p *Problem) json() []byte {
	bare := *p
	bare.Current = nil
	b, err := encode(&bare)
	if err != nil {
		panic(fmt.Sprintf("api: problem document: %v", err))
	}
	if p.Current == nil {
		return b
	}
	b = append(b[:len(b)-1], `,"current":`...)
	return append(append(b, p.Current...), '}')
}

// withoutCurrent returns the document for an answer without room for the entity.
func (p *Problem) withoutCurrent() *Problem {
	short := *p
	short.Current, short.CurrentOmitted = nil, p.Current != nil
	return &short
}

// withoutErrors returns the document for an answer that has no room for the faults either.
func (p *Problem) withoutErrors() *Problem {
	short := p.withoutCurrent()
	short.Errors, short.Detail = nil, "The content breaks rules. Send the command alone to read which."
	return short
}
