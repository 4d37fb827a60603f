package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// life is one user who does random things over the API. Every text that the user writes has the user's word.
type life struct {
	client
	chance *rand.Rand
	word   string
	texts  int
	// answers counts the answers by status.
	answers map[int]int
	// ids are those of all items that an answer named. becameID has, of an event that became a series, the series' id.
	ids      map[string]bool
	becameID map[string]string
	dates    map[string]bool // days for which a plan was committed
	feed     string          // the secret path of the calendar
	job      map[string]any  // the last finished job of export
	// day is the first day after the present one.
	day time.Time
}

// idMembers are the members that name an item of the user.
var idMembers = []string{"eventId", "masterId", "taskId", "reminderId", "noteId"}

// collections are the routes of the items that stand alone, with the member that has their id and the type that links
// name.
var collections = []struct{ path, id, kind string }{
	{"events", "eventId", "EVENT"}, {"series", "masterId", "MASTER"}, {"tasks", "taskId", "TASK"},
	{"reminders", "reminderId", "REMINDER"}, {"notes", "noteId", "NOTE"},
}

func (s *system) life(user string, chance *rand.Rand) *life {
	return &life{
		client: s.client(user), chance: chance, word: fmt.Sprintf("zq%014x", chance.Uint64()>>8),
		answers: map[int]int{}, ids: map[string]bool{}, becameID: map[string]string{}, dates: map[string]bool{},
	}
}

// text is a new text with the user's word.
func (l *life) text(what string) string {
	l.texts++
	return fmt.Sprintf("%s %s %d", what, l.word, l.texts)
}

// uuid is a random one of the life's own chance.
func (l *life) uuid() string {
	var raw [16]byte
	for i := range raw {
		raw[i] = byte(l.chance.UintN(256))
	}
	id, err := uuid.FromBytes(raw[:])
	require.NoError(l.system.t, err)
	return id.String()
}

// at is an instant at a whole hour between today and so many days ahead.
func (l *life) at(days int) string {
	return l.day.AddDate(0, 0, l.chance.IntN(days)).Add(time.Duration(l.chance.IntN(24)) * time.Hour).Format(time.RFC3339)
}

// ask makes a request that may be refused, and learns the ids that the answer names.
func (l *life) ask(method, path string, body any, match string) answer {
	l.system.t.Helper()
	r := request{method: method, path: path, body: body, match: match}
	if method != http.MethodGet && l.chance.IntN(3) == 0 {
		r.key = l.text("key")
	}
	got, err := l.call(l.system.t.Context(), r)
	require.NoError(l.system.t, err)
	require.Less(l.system.t, got.status, 500, "%s %s %v: %s", method, path, body, got)
	_, last, _ := strings.Cut(path[1:], "/")
	repeats := !slices.Contains([]string{"me/feed", "me/watch", "me/exports", "commands"}, last) &&
		!strings.HasSuffix(path, "/rollover") && !strings.HasSuffix(path, "/prune")
	if r.key != "" && got.status < 300 && repeats {
		again, err := l.call(l.system.t.Context(), r)
		require.NoError(l.system.t, err)
		require.Less(l.system.t, again.status, 300, "%s %s under its key again: %s", method, path, again)
		require.Equal(l.system.t, "true", again.header.Get("Idempotency-Replayed"), "%s %s: %s", method, path, again)
	}
	l.answers[got.status]++
	if got.status < 300 {
		l.learn(got.object())
	}
	return got
}

// learn keeps the ids that what was answered names.
func (l *life) learn(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range idMembers {
			if id, ok := v[name].(string); ok {
				l.ids[id] = true
			}
		}
		for _, member := range v {
			l.learn(member)
		}
	case []any:
		for _, member := range v {
			l.learn(member)
		}
	}
}

// list reads all pages of a list, and learns the ids in it.
func (l *life) list(path string) []map[string]any {
	l.system.t.Helper()
	items := l.client.list(path)
	for _, item := range items {
		l.learn(item)
	}
	return items
}

// one is a random item of a collection, nil if it has none.
func (l *life) one(collection string) map[string]any {
	items := l.list("/v1/" + collection)
	if len(items) == 0 {
		return nil
	}
	return items[l.chance.IntN(len(items))]
}

// any is a random item with its route and its type.
func (l *life) any() (item map[string]any, path, kind string) {
	for _, n := range l.chance.Perm(len(collections)) {
		in := collections[n]
		if item = l.one(in.path); item != nil {
			return item, "/v1/" + in.path + "/" + item[in.id].(string), in.kind
		}
	}
	return nil, "", ""
}

// tag is the If-Match of an item as it was read.
func tag(item map[string]any) string { return `"` + item["version"].(json.Number).String() + `"` }

// deeds make up a life, each with how often it comes.
var deeds = []struct {
	weight int
	do     func(l *life)
}{
	{6, (*life).writes}, {3, (*life).recurs}, {4, (*life).edits}, {3, (*life).deletes}, {3, (*life).links},
	{3, (*life).answersReminder}, {5, (*life).changesOccurrence}, {2, (*life).bendsSeries}, {5, (*life).growsTree},
	{5, (*life).plans}, {2, (*life).revisits}, {2, (*life).settles}, {1, (*life).shares}, {1, (*life).importsCalendar},
	{2, (*life).batches}, {1, (*life).takesOut}, {2, (*life).bringsBack}, {1, (*life).looks},
}

// goOn does so many random things.
func (l *life) goOn(steps int) {
	l.system.t.Helper()
	l.day = l.system.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	total := 0
	for _, d := range deeds {
		total += d.weight
	}
	for range steps {
		drawn := l.chance.IntN(total)
		for _, d := range deeds {
			if drawn -= d.weight; drawn < 0 {
				d.do(l)
				break
			}
		}
	}
}

// begin does each thing once, so that every life has something of everything.
func (l *life) begin() {
	l.system.t.Helper()
	l.day = l.system.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	for _, d := range deeds {
		d.do(l)
	}
}

func pick[T any](l *life, of ...T) T { return of[l.chance.IntN(len(of))] }

// writes makes an item of each kind that does not recur.
func (l *life) writes() {
	tags := []any{l.word, "home"}
	l.ask(http.MethodPost, "/v1/tasks", map[string]any{
		"title": l.text("task"), "description": l.text("about"), "tags": tags, "dueUtc": l.at(9), "dueTzid": "Europe/Paris",
		"reminderMinutes": []int{15, 60}, "priority": 1 + l.chance.IntN(5),
		"status": pick(l, "BACKLOG", "IN_PROGRESS", "COMPLETED", "ARCHIVED"),
	}, "")
	event := map[string]any{
		"title": l.text("event"), "location": l.text("place"), "tags": tags, "reminderMinutes": []int{30},
		"visibility": pick(l, "PUBLIC", "PRIVATE"),
	}
	switch l.chance.IntN(3) {
	case 0:
		event["isAllDay"], event["startDate"] = true, l.day.Format(time.DateOnly)
	case 1:
		event["startUtc"] = strings.TrimSuffix(l.at(9), "Z")
	default:
		event["startUtc"], event["startTzid"] = l.at(9), "America/New_York"
	}
	l.ask(http.MethodPost, "/v1/events", event, "")
	l.ask(http.MethodPost, "/v1/notes", map[string]any{
		"title": l.text("note"), "body": l.text("# Words\n\nof"), "tags": tags, "isPinned": l.chance.IntN(2) == 0,
	}, "")
	l.ask(http.MethodPost, "/v1/reminders", map[string]any{
		"title": l.text("remind"), "notes": l.text("why"), "triggerUtc": l.at(9), "tzid": "Asia/Tokyo", "tags": tags,
	}, "")
}

// recurs makes a series and a reminder that recurs.
func (l *life) recurs() {
	series := map[string]any{
		"title": l.text("series"), "description": l.text("each"), "startUtc": l.day.Add(9 * time.Hour).Format(time.RFC3339),
		"startTzid": "Europe/Paris", "rrule": pick(l, "FREQ=WEEKLY", "FREQ=DAILY;COUNT=12"), "reminderMinutes": []int{10},
	}
	l.ask(http.MethodPost, "/v1/series", series, "")
	l.ask(http.MethodPost, "/v1/reminders", map[string]any{
		"title": l.text("again"), "triggerUtc": l.at(3), "tzid": "Europe/London", "rrule": "FREQ=DAILY;COUNT=10",
	}, "")
}
