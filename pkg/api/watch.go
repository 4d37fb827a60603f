package api

import (
	"context"
	"net/http"

	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/watch"
)

// Members of the answer to an app that is open.
const (
	memberWatchEnd  = "until"
	memberSubscribe = "subscribe"
)

// watchOperation returns the operation with which an app says that it is open.
func watchOperation() *operation {
	return &operation{
		id: "watch", method: http.MethodPut, path: "/v1/me/watch", tag: "me", writes: true, alone: true,
		forgets: true,
		summary: "Say that an app is open, to get live hints",
		detail: "For 40 minutes: an app repeats it every 30 while it is open, and a repetition under an idempotency key " +
			"counts like any other. The answer says where to subscribe. Without " + memberSubscribe +
			" there are no hints for this user, and the app asks for changes by itself. A hint may be lost.",
		answers: []documented{{status: http.StatusOK, doc: "Until when, and where to subscribe.", schema: watchSchema()}},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			if _, err := idempotency.New(c.user, c.key, 0, nil); err != nil {
				return answer{}, err
			}
			w, err := s.Watches.Start(ctx, c.user)
			return answer{status: http.StatusOK, body: watchBody(w)}, err
		},
	}
}

func watchBody(w watch.Watch) []byte {
	out := appendText([]byte(`{"`+memberWatchEnd+`":`), item.FormatInstant(w.Until))
	if w.Channel != "" {
		out = appendText(append(out, `,"`+memberSubscribe+`":{"url":`...), w.Place.URL)
		out = appendText(append(out, `,"host":`...), w.Place.Host)
		out = append(appendText(append(out, `,"channel":`...), w.Channel), '}')
	}
	return append(out, '}')
}

func watchSchema() object {
	text := func(doc string) object { return object{{"type", "string"}, {"description", doc}} }
	return object{
		{"type", "object"},
		{"properties", object{
			{memberWatchEnd, object{
				{"type", "string"}, {"format", "date-time"}, {"description", "When hints end, unless this is repeated."},
			}},
			{memberSubscribe, object{
				{"type", "object"},
				{"description", "Where to subscribe; absent if there are no hints for this user."},
				{"properties", object{
					{"url", text("The address of the WebSocket, or its path at this API.")},
					{"host", text("What every authorization names as its host.")},
					{"channel", text("The channel of the user.")},
				}},
				{"required", []string{"url", "host", "channel"}},
			}},
		}},
		{"required", []string{memberWatchEnd}},
	}
}
