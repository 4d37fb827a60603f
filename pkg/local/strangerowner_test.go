package local_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
)

// The owner's name and every text of hers hold the word "sesame". The word stands in no other user's data.
const (
	owner     = "sesame-owner"
	ownersDay = "2026-03-02"
	stranger  = "2026-03-03" // the day of a stranger's own plan
	ownersUID = "sesame-uid@example.com"
	ownersKey = "sesame-key"
)

// An own id ends in twelve digits that say whose it is, so that no two users of this test share one.
func ownersID(prefix string, n int) string {
	return fmt.Sprintf("%s5e5a0000-0000-4000-8000-%012x", prefix, 0xa11ce000+n)
}

func strangersID(prefix string, n int) string {
	return fmt.Sprintf("%s00000000-0000-4000-8000-%012x", prefix, 0xb0b000+n)
}

// ghost is a text with each value of the owner's replaced by one of the same form that never was.
func ghost(text string) string {
	text = words.Replace(text)
	return tails.ReplaceAllStringFunc(text, func(tail string) string {
		return strings.Map(func(digit rune) rune {
			const digits = "0123456789abcdef"
			return rune(digits[strings.IndexRune(digits, digit)^5])
		}, tail)
	})
}

var (
	words = strings.NewReplacer("sesame", "nobody", "Sesame", "Nobody", "SESAME", "NOBODY")
	tails = regexp.MustCompile(`[0-9a-f]{12}\b`)
)

// pair is a value of the owner's, and one of the same form that never was.
type pair struct{ hers, never string }

func paired(values ...string) []pair {
	var out []pair
	for _, v := range values {
		out = append(out, pair{v, ghost(v)})
	}
	return out
}

// cursorPair changes the cursor's content, which is base64.
func cursorPair(cursor string) pair {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		panic(err)
	}
	never := ghost(string(raw))
	if never == string(raw) { // a place without an id
		never = string(raw[:len(raw)-1]) + "~"
	}
	return pair{cursor, base64.RawURLEncoding.EncodeToString([]byte(never))}
}

// turned is the pair of a random value: the same characters in another order.
func turned(value string, from, to int) pair {
	middle := []byte(value[from:to])
	for i, j := 0, len(middle)-1; i < j; i, j = i+1, j-1 {
		middle[i], middle[j] = middle[j], middle[i]
	}
	return pair{value, value[:from] + string(middle) + value[to:]}
}

// notQuite are her calendar's address with another secret, and her secret under another user's name. The address itself
// is the permission to read, so it is no attempt.
func notQuite(address string) []pair {
	dot := strings.IndexByte(address, '.')
	wrong := turned(address, dot+1, len(strings.TrimSuffix(address, ".ics"))).never
	other := base64.RawURLEncoding.EncodeToString([]byte(ghost(owner)))
	return []pair{{wrong, other + wrong[dot:]}, {other + address[dot:], other + wrong[dot:]}}
}

// tagOf is the ETag of a read.
func (s *system) tagOf(path string) string {
	s.t.Helper()
	request := s.request(http.MethodGet, path)
	response, err := s.client.Do(request)
	require.NoError(s.t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
	require.NotEmpty(s.t, response.Header.Get("ETag"), path)
	return response.Header.Get("ETag")
}

// node ids by kind; whose says by which function ids are made.
func treeOf(id func(string, int) string, text string) object {
	driver, milestone, action := id("drv_", 20), id("mil_", 21), id("act_", 22)
	return object{
		"message": text, "source": "weekly_review",
		"nodes": []object{
			{"nodeId": driver, "nodeType": "DRIVER", "title": text},
			{"nodeId": milestone, "nodeType": "MILESTONE", "title": text},
			{"nodeId": action, "nodeType": "ACTION", "title": text, "driverId": driver, "notes": text},
		},
		"edges": []object{
			{"parentNodeId": driver, "order": 1, "childNodeId": milestone},
			{"parentNodeId": milestone, "order": 1, "childNodeId": action},
		},
	}
}

func planOf(id func(string, int) string, day, text string) object {
	return object{
		"reason": "morning_plan", "message": text,
		"todos": []object{{"actionId": id("act_", 22), "classification": "important", "estimatedPomodoros": 2,
			"notes": text}},
		"blocks": []object{{
			"blockId": id("blk_", 23), "blockType": "POMODORO", "actionId": id("act_", 22), "pomodoroIndex": 1,
			"startTimeIso": day + "T09:00:00Z", "endTimeIso": day + "T09:25:00Z",
		}},
	}
}

// thingsOf are the commands that give a user one of everything that a batch can make.
func thingsOf(id func(string, int) string, text string) []object {
	made := func(n int, kind, name string, data object) object {
		data[name], data["title"] = id(prefixOf[name], n), fmt.Sprint(text, " ", kind, " ", n)
		return object{"id": fmt.Sprint("made-", kind, n), "type": kind, "data": data}
	}
	tags := []string{strings.ToLower(text)}
	note := []object{{"targetType": "NOTE", "targetId": id("note_", 1), "relation": text}}
	return []object{
		made(1, "CreateNote", "noteId", object{"body": text + " body", "tags": tags}),
		made(2, "CreateEvent", "eventId", object{
			"startUtc": "2026-03-12T09:00:00Z", "endUtc": "2026-03-12T10:00:00Z", "startTzid": "UTC", "location": text,
			"tags":            tags,
			"reminderMinutes": []int{10}, "links": note,
		}),
		made(3, "CreateTask", "taskId", object{"dueUtc": "2026-03-13T09:00:00Z", "dueTzid": "UTC", "description": text,
			"tags": tags, "links": note}),
		made(4, "CreateReminder", "reminderId", object{"triggerUtc": "2026-03-14T09:00:00Z", "tzid": "UTC", "links": note}),
		made(5, "CreateSeries", "masterId", object{
			"startUtc": "2026-03-05T09:00:00Z", "endUtc": "2026-03-05T09:30:00Z", "startTzid": "UTC", "rrule": "FREQ=DAILY",
			"description": text, "tags": tags,
		}),
		{"id": "made-occurrence", "type": "PutInstance", "expectedVersion": 1, "data": object{
			"masterId": id("mst_", 5), "date": "20260308", "title": text + " occurrence",
		}},
		made(6, "CreateReminder", "reminderId", object{"triggerUtc": "2026-03-01T00:00:00Z", "tzid": "UTC"}),
		made(11, "CreateNote", "noteId", object{}),
		made(12, "CreateEvent", "eventId", object{"startUtc": "2026-03-12T09:00:00Z", "startTzid": "UTC"}),
		made(13, "CreateTask", "taskId", object{}),
		made(14, "CreateReminder", "reminderId", object{"triggerUtc": "2026-03-14T09:00:00Z", "tzid": "UTC"}),
		made(15, "CreateSeries", "masterId", object{"startUtc": "2026-03-05T09:00:00Z", "startTzid": "UTC",
			"rrule": "FREQ=DAILY"}),
		{"id": "made-done", "type": "CompleteReminder", "data": object{"reminderId": id("rem_", 6)}},
	}
}

var prefixOf = map[string]string{
	"noteId": "note_", "eventId": "evt_", "taskId": "task_", "reminderId": "rem_", "masterId": "mst_",
}

// everything holds the values of the owner, by kind of place, and the parts of it that no answer to another user may
// hold.
type everything struct {
	values map[string][]pair
	marks  []string
	tails  map[string]bool // of her ids
	secret string          // of her calendar's address
}

// inhabit gives a user of the system one of everything, and returns what its revisions and its address are.
func (s *system) inhabit(id func(string, int) string, day, text string) (rev, planRev, address string) {
	s.t.Helper()
	s.commands(thingsOf(id, text))
	rev = s.must("POST", "/v1/values/revisions", treeOf(id, text))["revId"].(string)
	planRev = s.must("POST", "/v1/plans/"+day+"/revisions", planOf(id, day, text))["revId"].(string)
	s.must("POST", "/v1/webhooks", object{
		"webhookId": id("whk_", 70), "url": "https://hooks.invalid/" + text, "types": []string{"note.deleted"},
	})
	path := s.must("PUT", "/v1/me/feed", object{"privateAs": "FULL"})["path"].(string)
	return rev, planRev, strings.TrimPrefix(path, "/feed/")
}

// commands carries a batch out, all of which succeeds.
func (s *system) commands(list []object) {
	s.t.Helper()
	for _, result := range s.must("POST", "/v1/commands", object{"commands": list})["results"].([]any) {
		require.Less(s.t, number64(result.(object)["status"]), 300.0, "%v", result)
	}
}

func number64(v any) float64 { f, _ := v.(float64); return f }

// own gives the owner everything, in more than one page of each list. Her cold copy is there once a day has
// passed.
func own(s *system) *everything {
	s.t.Helper()
	her := s.as(owner)
	rev, planRev, address := her.inhabit(ownersID, ownersDay, "Sesame")
	her.must("POST", "/v1/notes", object{"title": "Sesame under a key", "noteId": ownersID("note_", 30)},
		"Idempotency-Key", ownersKey)
	her.must("PATCH", "/v1/me", object{"defaultTzid": "Pacific/Chatham"}, "If-Match", `"0"`)
	var more []object
	for n := range 2 {
		more = append(more,
			object{"id": fmt.Sprint("e", n), "type": "CreateEvent", "data": object{
				"eventId": ownersID("evt_", 40+n), "title": "Sesame long", "startUtc": "2026-03-12T09:00:00Z",
				"endUtc": "2026-03-16T09:00:00Z", "startTzid": "UTC",
			}},
			object{"id": fmt.Sprint("t", n), "type": "CreateTask", "data": object{
				"taskId": ownersID("task_", 40+n), "title": "Sesame task", "links": []object{{"targetType": "NOTE",
					"targetId": ownersID("note_", 1)}},
			}},
			object{"id": fmt.Sprint("s", n), "type": "CreateSeries", "data": object{
				"masterId": ownersID("mst_", 40+n), "title": "Sesame series", "startUtc": "2026-03-02T09:00:00Z",
				"startTzid": "UTC", "rrule": "FREQ=WEEKLY",
			}},
			object{"id": fmt.Sprint("r", n), "type": "CreateReminder", "data": object{
				"reminderId": ownersID("rem_", 40+n), "title": "Sesame again", "triggerUtc": "2026-03-14T09:00:00Z",
				"tzid": "UTC", "rrule": "FREQ=DAILY",
			}},
			object{"id": fmt.Sprint("d", n), "type": "CreateReminder", "data": object{
				"reminderId": ownersID("rem_", 50+n), "title": "Sesame gone", "triggerUtc": "2026-03-01T00:00:00Z", "tzid": "UTC",
			}},
			object{"id": fmt.Sprint("c", n), "type": "CompleteReminder", "data": object{"reminderId": ownersID("rem_", 50+n)}},
		)
	}
	her.commands(more)
	her.must("POST", "/v1/values/revisions", object{
		"parentRevId": rev, "message": "Sesame", "source": "daily_update",
		"operations": []object{{"op": "update", "nodeId": ownersID("act_", 22), "notes": "Sesame twice"}},
	})
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL()+"/v1/calendar/import",
		strings.NewReader(
			strings.ReplaceAll(strings.ReplaceAll(bodies["importCalendar"][0], "{{uid}}", ownersUID), "SUMMARY:x",
				"SUMMARY:Sesame imported")))
	require.NoError(s.t, err)
	request.Header = http.Header{"Authorization": {"Bearer " + owner}, "Content-Type": {"text/calendar"}}
	response, err := s.client.Do(request)
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
	require.Less(s.t, response.StatusCode, 300)
	s.waitUntilIdle()
	device := strings.TrimPrefix(ownersID("x_", 60), "x_")
	made := her.must("POST", "/dev/pushes", object{})
	her.must("PUT", "/v1/me/devices/"+device,
		object{"endpoint": made["endpoint"], "keys": made["keys"], "name": "Sesame laptop"})
	her.must("POST", "/v1/me/exports", nil)
	s.waitUntilIdle()
	all := &everything{secret: strings.Split(address, ".")[1], tails: map[string]bool{}, values: map[string][]pair{
		"event":  paired(ownersID("evt_", 2), ownersID("evt_", 40)),
		"series": paired(ownersID("mst_", 5)),
		"occurrence": paired("inst_20260308_"+strings.TrimPrefix(ownersID("mst_", 5), "mst_"),
			"inst_20260309_"+strings.TrimPrefix(ownersID("mst_", 5), "mst_")),
		"task":      paired(ownersID("task_", 3)),
		"reminder":  paired(ownersID("rem_", 4), ownersID("rem_", 40)),
		"note":      paired(ownersID("note_", 1)),
		"webhook":   paired(ownersID("whk_", 70)),
		"cold":      paired(ownersID("rem_", 6), ownersID("rem_", 50), ownersID("task_", 3)),
		"driver":    paired(ownersID("drv_", 20)),
		"milestone": paired(ownersID("mil_", 21), ownersID("act_", 22)),
		"action":    paired(ownersID("act_", 22)),
		"block":     paired(ownersID("blk_", 23)),
		"rev":       paired(rev),
		"planRev":   paired(planRev),
		"date":      {{"20260308", "20260308"}}, // of her exception; a date alone names no owner
		"day":       {{ownersDay, "2026-04-02"}},
		"export":    {{"000001", "000002"}}, // of a stranger who has none
		"device":    paired(device),
		"act":       {{owner + ".d." + device + ".x", "nobody.d." + ghost(device) + ".x"}},
		"address":   notQuite(address),
		"text":      paired("Sesame", "sesame", "sesa"),
		"key":       paired(ownersKey),
		"uid":       paired(ownersUID),
	}}
	for name, kind := range newKinds {
		all.values[kind] = all.values[pathKinds[name]]
	}
	for _, kind := range targetKinds {
		all.values[kind] = all.values[strings.TrimSuffix(kind, "Target")]
	}
	all.values["newAction"] = all.values["action"]
	all.values["text"][2].never = "nobo"
	return all
}

// handedOut adds what the system gives the owner to keep: cursors, tags and tokens; and says what marks her.
func (all *everything) handedOut(her *system) {
	for _, path := range []string{
		"/v1/tasks?limit=1", "/v1/tasks?status=BACKLOG&limit=1", "/v1/events?limit=1", "/v1/series?limit=1",
		"/v1/reminders?limit=1", "/v1/notes?limit=1",
		"/v1/notes?state=recent&limit=1", "/v1/tasks?q=sesa&limit=1", "/v1/search?limit=1",
		"/v1/archive?limit=1", "/v1/values/revisions?limit=1",
		"/v1/agenda?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z&limit=1",
		"/v1/notes/" + ownersID("note_", 1) + "/backlinks?limit=1",
	} {
		cursor, ok := her.must("GET", path, nil)["nextCursor"].(string)
		require.True(her.t, ok, "one page of %s is all", path)
		all.values["cursor"] = append(all.values["cursor"], cursorPair(cursor))
	}
	for _, path := range []string{"/v1/tasks", "/v1/board", "/v1/values", "/v1/me/stats", "/v1/calendar.ics"} {
		tag := her.tagOf(path)
		from := 1 + strings.LastIndexAny(strings.TrimSuffix(tag, `"`), `"_`)
		all.values["etag"] = append(all.values["etag"], turned(tag, from, len(tag)-1))
	}
	all.values["token"] = []pair{{
		hers:  her.must("GET", "/v1/changes", nil)["next"].(string),
		never: her.as(ghost(owner)).must("GET", "/v1/changes", nil)["next"].(string),
	}}
	marks := map[string]bool{"sesame": true, "chatham": true, strings.ToLower(all.secret): true}
	for kind, values := range all.values {
		for _, v := range values {
			switch tail := tails.FindString(v.hers); {
			case tail != "":
				marks[tail], all.tails[tail] = true, true
			case kind == "cursor" || kind == "etag" || kind == "token":
				marks[strings.ToLower(strings.Trim(v.hers, `"`))] = true
			}
		}
	}
	for mark := range marks {
		all.marks = append(all.marks, mark)
	}
}
