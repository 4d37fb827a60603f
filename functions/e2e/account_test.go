package e2e_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/entity"
	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/pepper"
	"nexus/pkg/table"
)

// list answers a list of a bucket's objects, or of their versions: here each has one. Lists are short, so one page
// holds them.
func (s *services) list(w http.ResponseWriter, r *http.Request, bucket string) {
	type entry struct {
		Key       string
		VersionID string `xml:"VersionId,omitempty"`
	}
	var answer struct {
		XMLName     xml.Name
		IsTruncated bool
		Contents    []entry
		Version     []entry
	}
	answer.XMLName.Local = "ListBucketResult"
	query := r.URL.Query()
	for _, object := range slices.Sorted(maps.Keys(s.objects)) {
		key, ok := strings.CutPrefix(object, bucket+"/")
		if !ok || !strings.HasPrefix(key, query.Get("prefix")) {
			continue
		}
		if query.Has("versions") {
			answer.Version = append(answer.Version, entry{key, "v1"})
		} else {
			answer.Contents = append(answer.Contents, entry{Key: key})
		}
	}
	if query.Has("versions") {
		answer.XMLName.Local = "ListVersionsResult"
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}

// deleteVersions answers DeleteObjects.
func (s *services) deleteVersions(w http.ResponseWriter, bucket, body string) {
	var in struct{ Object []struct{ Key string } }
	if err := xml.Unmarshal([]byte(body), &in); err != nil {
		refuseObject(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	for _, object := range in.Object {
		delete(s.objects, bucket+"/"+object.Key)
	}
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprint(w, `<DeleteResult/>`)
}

// listSchedules answers ListSchedules.
func (s *services) listSchedules(w http.ResponseWriter, r *http.Request) {
	answer := struct{ Schedules []map[string]string }{[]map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(s.schedules)) {
		if strings.HasPrefix(name, r.URL.Query().Get("NamePrefix")) {
			answer.Schedules = append(answer.Schedules, map[string]string{"Name": name, "GroupName": group})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// shift moves instants of the row of the user's account into the past.
func (w *fixture) shift(name string, by time.Duration, attributes ...string) {
	w.Helper()
	key := departure.StateKey(name)
	row := w.row(key)
	set := item.Item{}
	for _, attribute := range attributes {
		at, ok := row.Time(attribute)
		require.True(w, ok, attribute)
		set[attribute] = item.String(item.FormatInstant(at.Add(-by)))
	}
	if at, ok := set.Time("eraseAt"); ok { // its place in the state view follows
		set[item.AttrGSI3SK] = item.String(item.FormatInstant(at))
	}
	_, err := w.store.Update(w.Context(), table.Update{Key: key, Set: set, If: table.Exists()})
	require.NoError(w, err)
}

// accountCall returns the event that the rule of EventBridge sends.
func (w *fixture) accountCall() []byte { return w.payload("account-scheduled") }

func TestAccount_erasesAUserWhoHasLeft(t *testing.T) {
	t.Parallel()
	w := setup(t)
	effects := w.start(env.Effects)
	effects.handled(w.happen("stream-reminder-created"))
	require.NotEmpty(t, w.services.waiting())
	require.NoError(t, w.store.Put(t.Context(), table.Put{Item: account.FormRow()}))

	commands := w.start(env.Command)
	leave := func(signedIn time.Time) answer {
		return commands.request(changed(t, w.payload("command-create-task"), map[string]any{
			"rawPath": "/v1/me", "requestContext/http/path": "/v1/me", "requestContext/http/method": "DELETE", "body": nil,
			"headers/content-length": nil, "headers/content-type": nil,
			"requestContext/authorizer/jwt/claims/auth_time": strconv.FormatInt(signedIn.Unix(), 10),
		}))
	}
	require.Equal(t, http.StatusUnauthorized, leave(time.Now().Add(-time.Hour)).StatusCode)
	require.Equal(t, http.StatusAccepted, leave(time.Now()).StatusCode)
	spice, err := pepper.Parse(spice)
	require.NoError(t, err)
	name := spice.Erasure(user)
	require.Contains(t, w.services.stored(), archive+"/leaving/"+name)

	f := w.start(env.Account)
	f.succeed(w.accountCall())
	require.Equal(t, "REQUESTED", w.row(departure.StateKey(name)).Str("state"), "a week is left")

	w.shift(name, 9*24*time.Hour, "eraseAt")
	f.succeed(w.accountCall())
	require.Equal(t, "ERASING", w.row(departure.StateKey(name)).Str("state"), "another call goes on")
	require.NotNil(t, w.item("REMINDER", fixedID))

	w.shift(name, time.Hour, "erasingAt", "movedAt")
	f.succeed(w.accountCall())
	erased := w.row(departure.StateKey(name))
	require.Equal(t, "ERASED", erased.Str("state"))
	require.False(t, erased.Has("userId"))
	require.Empty(t, w.services.waiting())
	for _, partition := range []string{entity.UserPK(user), "U#" + user} {
		page, err := w.store.Query(t.Context(), table.Query{Partition: partition})
		require.NoError(t, err)
		require.Empty(t, page.Items, partition)
	}
	require.Equal(t, []string{archive + "/erased/" + name, archive + "/pepper"}, w.services.stored())
	require.Equal(t, user, w.requireEvent("UserErased")["userId"])
	require.NotContains(t, f.log.String(), user)
	require.Contains(t, f.log.String(), "account erased")
	f.requireCounted(metric.ErasuresOverdue, 1)
}

func TestAccount_refusesATableOfAnEarlierForm(t *testing.T) {
	t.Parallel()
	w := setup(t)
	commands := w.start(env.Command)
	made := commands.request(changed(t, w.payload("command-create-task"), map[string]any{
		"rawPath": "/v1/me", "requestContext/http/path": "/v1/me", "requestContext/http/method": "DELETE", "body": nil,
		"headers/content-length": nil, "headers/content-type": nil,
		"requestContext/authorizer/jwt/claims/auth_time": strconv.FormatInt(time.Now().Unix(), 10),
	}))
	require.Equal(t, http.StatusAccepted, made.StatusCode, "%s", made.Body)
	spice, err := pepper.Parse(spice)
	require.NoError(t, err)
	w.shift(spice.Erasure(user), 8*24*time.Hour, "eraseAt")
	o := w.start(env.Account).invoke(w.accountCall())
	require.NotNil(t, o.failure)
	require.Contains(t, o.failure.ErrorMessage, "verify --repair")
}

func TestAccount_prunesTheHistoryOfAUserWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	w := setup(t)
	commands := w.start(env.Command)
	write := func(method, path string, version any, body string) map[string]any {
		made := commands.request(changed(t, w.payload("command-create-task"), map[string]any{
			"rawPath": path, "requestContext/http/path": path, "requestContext/http/method": method, "body": body,
			"headers/content-length": nil, "headers/if-match": version, "headers/idempotency-key": nil,
		}))
		require.Less(t, made.StatusCode, 300, "%s", made.Body)
		return object(t, made.Body)
	}
	write("PATCH", "/v1/me", `"0"`, `{"preferences":{"historyDays":1}}`)
	first := write("POST", "/v1/values/revisions", nil, `{"message":"a","source":"weekly_review","operations":[
		{"op":"create","nodeType":"DRIVER","title":"Health"}]}`)["revId"].(string)
	write("POST", "/v1/values/revisions", nil, `{"message":"b","source":"weekly_review","parentRevId":"`+first+`",
		"operations":[{"op":"create","nodeType":"DRIVER","title":"Work"}]}`)
	revisions := func() int {
		page, err := w.store.Query(t.Context(), table.Query{
			Partition: "U#" + user, Range: table.Range{Prefix: "REV#VALUES#"},
		})
		require.NoError(t, err)
		return len(page.Items)
	}
	require.Equal(t, 2, revisions())

	meta := w.row(entity.MetaKey(user))
	month := time.Now().AddDate(0, 2, 0).Format("2006-01-")
	day := strings.TrimPrefix(meta.Str(item.AttrGSI3PK), "HISTORY#")
	turn, err := time.Parse("2006-01-02 15:04", month+day+" "+meta.Str(item.AttrGSI3SK)[:len("15:04")])
	require.NoError(t, err)
	f := w.start(env.Account)
	call := func(at time.Time) {
		f.succeed(changed(t, w.accountCall(), map[string]any{"time": at.Format(instantForm)}))
	}
	call(turn)
	require.Equal(t, 2, revisions(), "the turn has just begun")
	call(turn.Add(5 * time.Minute))
	require.Equal(t, 1, revisions())
	require.NotContains(t, f.log.String(), user)
}

func TestAccount_refusesAnEventWithoutItsTime(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Account)
	for _, payload := range []string{`{}`, `[]`, `{"time":"soon"}`} {
		o := f.invoke([]byte(payload))
		require.NotNil(t, o.failure, payload)
		require.Contains(t, o.failure.ErrorMessage, "event of a rule")
	}
}
