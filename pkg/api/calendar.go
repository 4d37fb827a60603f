package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"nexus/pkg/calendar"
	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
)

const (
	calendarType = "text/calendar"
	feedSuffix   = ".ics"
	paramAddress = "address"

	getCalendarID = "getCalendar"
	getFeedTextID = "getFeedCalendar"
)

// What a cache in front of the service has to know of the secret addresses of calendars.
const (
	// FeedPath begins their paths, and FeedPart is the only parameter that they take.
	FeedPath = "/feed/"
	FeedPart = "part"
	// FeedCached is how long the cache answers with a calendar, if [Config.Edge] says that there is one.
	FeedCached = 5 * time.Minute
	// FeedEffective is the time after which no cache answers with a calendar from before a change of its address: a read
	// that began before may take half a minute until it is kept.
	FeedEffective = FeedCached + 30*time.Second
)

// feedCaching lets shared caches keep a calendar, and not for longer while the service answers with errors (RFC 5861
// §4). A client asks each time.
var feedCaching = fmt.Sprintf("max-age=0, s-maxage=%d, stale-if-error=0", int(FeedCached.Seconds()))

// calendarOperations returns the operations that exchange the user's calendar with other programs.
func calendarOperations() []*operation {
	text := object{{"type", "string"}, {"description", "An iCalendar text (RFC 5545)."}}
	whole := "Events, series with their changed occurrences, reminders and tasks. The same items give the same text, so " +
		"If-None-Match spares sending it again; " +
		"it is compressed for whoever accepts gzip. If it is too large for one answer it has what ends less than a year " +
		"ago or later, and says so, in the text and in " + headerSince +
		"; the parts 1 to " + headerParts + " together are all of it."
	choice, chosen := form(privateAsField), form(privateAsField)
	chosen.Fields[0].Default = nil
	part := entity.Field{
		Name: FeedPart, Kind: entity.Integer, Min: 1, Max: 10_000,
		Doc: "Which part of the whole calendar, instead of one text.",
	}
	return []*operation{
		{
			id: getCalendarID, method: http.MethodGet, path: "/v1/calendar.ics", tag: "calendar",
			summary: "Read the calendar as iCalendar", detail: whole, query: []entity.Field{part},
			answers: []documented{{status: http.StatusOK, doc: "The calendar.", schema: text, media: calendarType}}, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				out, err := s.Calendar.Export(ctx, c.user, int(c.query.Int(FeedPart)))
				return answerExport(out, err)
			},
		},
		importOperation(text),
		{
			id: getFeedTextID, method: http.MethodGet, path: FeedPath + "{" + paramAddress + "}", tag: "calendar", open: true,
			summary: "Read the calendar at its secret address", detail: "For calendar programs, which cannot send a token: " +
				"whoever knows the address can read the calendar. What is private is shown as the address says, only as busy " +
				"unless its owner chose otherwise. " + whole,
			query:   []entity.Field{part},
			answers: []documented{{status: http.StatusOK, doc: "The calendar.", schema: text, media: calendarType}}, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				address, ok := strings.CutSuffix(c.path[paramAddress], feedSuffix)
				if !ok {
					return answer{}, calendar.ErrNoFeed
				}
				return exportFeed(ctx, s, c, address)
			},
		},
		{
			id: "makeFeed", method: http.MethodPut, path: "/v1/me/feed", tag: "calendar", writes: true, alone: true,
			forgets: true, lags: true,
			summary: "Make a secret address of the calendar, or a new one",
			detail: "The address before ceases to work. It is told this once: only a digest of it is kept, so a repetition " +
				"makes a new one, also under an idempotency key.",
			body: &body{
				form: choice, schema: formSchema(choice), example: map[string]any{calendar.AttrPrivateAs: calendar.PrivateAsBusy},
			},
			answers: []documented{{status: http.StatusOK, doc: "The address.", schema: feedSchema(true)}},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				if _, err := idempotency.New(c.user, c.key, 0, nil); err != nil {
					return answer{}, err
				}
				address, f, err := s.Calendar.MakeFeed(ctx, c.user, c.form.Str(calendar.AttrPrivateAs))
				return answer{status: http.StatusOK, body: feedBody(s.FeedOrigin, address, f)}, err
			},
		},
		{
			id: "changeFeed", method: http.MethodPatch, path: "/v1/me/feed", tag: "calendar", writes: true, alone: true,
			lags:    true,
			summary: "Say how the secret address shows what is private", detail: "The address stays as it is.",
			body: &body{
				form: chosen, schema: formSchema(chosen), patch: true, required: true,
				example: map[string]any{calendar.AttrPrivateAs: calendar.PrivateAsFull},
			},
			answers: []documented{{status: http.StatusOK, doc: "How it is now.", schema: feedSchema(false)}, goneAnswer},
			finds:   true,
			run:     changeFeed,
		},
		{
			id: "getFeed", method: http.MethodGet, path: "/v1/me/feed", tag: "calendar",
			summary: "Ask whether the calendar has a secret address", detail: "The address itself cannot be told again.",
			answers: []documented{{status: http.StatusOK, doc: "There is one.", schema: feedSchema(false)}}, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				f, err := s.Calendar.Feed(ctx, c.user)
				return answer{status: http.StatusOK, body: feedBody("", "", f)}, err
			},
		},
		{
			id: "revokeFeed", method: http.MethodDelete, path: "/v1/me/feed", tag: "calendar", writes: true, alone: true,
			whileLeaving: true, lags: true,
			summary: "Revoke the secret address of the calendar",
			detail: "One that is not there is revoked already. Behind a cache it is revoked for everybody after the seconds " +
				"of " + headerEffective + ".",
			answers: []documented{{status: http.StatusNoContent, doc: "There is no such address any more."}},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				replayed, err := s.Calendar.RevokeFeed(ctx, c.user, c.key)
				return answer{status: http.StatusNoContent, replayed: replayed}, err
			},
		},
	}
}

// stillRunning says when a request under an idempotency key is refused with 409.
const stillRunning = "The same request is still being carried out."

// changeFeed answers a repetition with the address as it is now, or with 204 if it was revoked since.
func changeFeed(ctx context.Context, s *Config, c call) (answer, error) {
	f, replayed, err := s.Calendar.ChangeFeed(ctx, c.user, c.form.Str(calendar.AttrPrivateAs), c.key)
	if replayed && errors.Is(err, calendar.ErrNoFeed) {
		return answer{status: http.StatusNoContent, replayed: true}, nil
	}
	return answer{status: http.StatusOK, body: feedBody("", "", f), replayed: replayed}, err
}

// importOperation returns the operation that imports a file of another calendar program.
func importOperation(text object) *operation {
	return &operation{
		id: "importCalendar", method: http.MethodPost, path: "/v1/calendar/import", tag: "calendar", writes: true,
		alone: true, pays: true,
		summary: "Take over an iCalendar text",
		detail: "At most 1,000 components and 5 MB. What has a UID that was imported before is updated, and not written at " +
			"all if it says the same; an older revision than the one stored is refused. " +
			"Every component is counted as created, updated or unchanged, or is among the refused with the reason. Nobody is " +
			"reminded of what was due before.",
		body: &body{
			schema: text, required: true, limit: int64(ical.RequestLimits().Bytes), media: calendarType,
			example: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:1@example.com\r\n" +
				"DTSTAMP:20260301T120000Z\r\nDTSTART:20260310T090000Z\r\nSUMMARY:Lunch\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
		},
		answers:   []documented{{status: http.StatusOK, doc: "What became of each component.", schema: reportSchema()}},
		conflicts: stillRunning,
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			importer := calendar.NewImporter(s.Commands, s.Registry)
			importer.Admit = func(ctx context.Context, components int) error { return admitImport(ctx, s, c, components) }
			report, replayed, err := importer.Import(ctx, c.user, c.text, c.key)
			var limit *ical.LimitError
			switch {
			case errors.As(err, &limit) && !errors.Is(err, ical.ErrNotCalendar):
				return answer{}, refuse(tooLarge, "The text has more than %d %s; send it in parts.", limit.Limit, limit.What)
			case errors.Is(err, ical.ErrNotCalendar):
				return answer{},
					refuseFields(entity.FieldError{Pointer: "", Detail: "must be an iCalendar text: " + shorten(err.Error())})
			}
			return answer{status: http.StatusOK, body: report, replayed: replayed}, err
		},
	}
}

// answerExport answers with the calendar, or a part of it.
func answerExport(out calendar.Export, err error) (answer, error) {
	pointer := "/" + FeedPart
	switch {
	case errors.Is(err, calendar.ErrTooLarge):
		return answer{}, refuseFields(entity.FieldError{
			Pointer: pointer, Detail: "is required: even what is recent is too large for one answer",
		})
	case errors.Is(err, calendar.ErrNoPart):
		return answer{}, refuseFields(entity.FieldError{Pointer: pointer, Detail: "is beyond the last part"})
	}
	return answer{status: http.StatusOK, calendar: &out}, err
}

// privateAsField is the setting of an address.
var privateAsField = entity.Field{
	Name: calendar.AttrPrivateAs, Kind: entity.Enum, Required: true, Default: item.String(calendar.PrivateAsBusy),
	Enum: []string{calendar.PrivateAsBusy, calendar.PrivateAsFull},
	Doc: "How events that are PRIVATE or CONFIDENTIAL are shown: BUSY, only when they take time, or FULL, as all " +
		"others. Tasks and reminders that another calendar calls so are left out where it is BUSY.",
}

func feedBody(origin, address string, f calendar.Feed) []byte {
	out := appendText([]byte(`{"createdAt":`), item.FormatInstant(f.CreatedAt))
	out = appendText(append(out, `,"`+calendar.AttrPrivateAs+`":`...), f.PrivateAs)
	if address != "" {
		out = appendText(append(out, `,"path":`...), FeedPath+address+feedSuffix)
	}
	if address != "" && origin != "" {
		out = appendText(append(out, `,"url":`...), origin+FeedPath+address+feedSuffix)
	}
	return append(out, '}')
}

func feedSchema(withPath bool) object {
	properties := object{
		{entity.AttrCreatedAt,
			object{{"type", "string"}, {"format", "date-time"}, {"description", "Since when the address is good."}}},
	}
	properties = append(properties, member{
		calendar.AttrPrivateAs,
		object{{"type", "string"}, {"enum", privateAsField.Enum}, {"description", privateAsField.Doc}},
	})
	needed := []string{entity.AttrCreatedAt, calendar.AttrPrivateAs}
	if withPath {
		properties = append(properties, member{
			"path", object{{"type", "string"}, {"description", "The address, as a path of this service. Keep it secret."}},
		}, member{
			"url", object{{"type", "string"}, {"format", "uri"},
				{"description", "The address for a calendar program, if the service knows its own name. Keep it secret."}},
		})
		needed = append(needed, "path")
	}
	return object{{"type", "object"}, {"properties", properties}, {"required", needed}}
}

func reportSchema() object {
	count := func(doc string) object {
		return object{{"type", "integer"}, {"minimum", 0}, {"description", doc}}
	}
	text := func(doc string) object { return object{{"type", "string"}, {"description", doc}} }
	remarks := func(doc string) object {
		return object{{"type", "array"}, {"description", doc}, {"items", object{
			{"type", "object"},
			{"properties", object{
				{"component", text("Such as VEVENT.")}, {"uid", text("Its UID, shortened if it is long.")},
				{"line", object{{"type", "integer"}, {"minimum", 0}, {"description", "The line of the text in which it begins."}}},
				{"reason", text("For people.")},
			}},
			{"required", []string{"component", "line", "reason"}},
		}}}
	}
	return object{
		{"type", "object"},
		{"properties", object{
			{"created", count("Components that became something new.")},
			{"updated", count("Those that changed what was there.")},
			{"unchanged", count("Those that say what is there already.")},
			{"refused", remarks("Components of which nothing was taken.")},
			{"leftOut", remarks("Parts of components that have no place here, at most 500 of them.")},
			{"leftOutTotal", count("How many parts were left out.")},
		}},
		{"required", []string{"created", "updated", "unchanged", "refused", "leftOut", "leftOutTotal"}},
	}
}
