package local_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sharedNote is the id that two users give to a note of their own: ids are the client's choice.
const sharedNote = "note_5f0c1f6e-2f6b-4d8e-9d5e-0c3f7a1b2c3d"

// linked lets the user have the shared note and so many tasks that link to it, and returns the tasks' ids.
func (s *system) linked(user string, n int) []string {
	s.t.Helper()
	own := *s
	own.user = user
	own.must("POST", "/v1/notes", object{"noteId": sharedNote, "title": "the note of " + user})
	ids := make([]string, n)
	for i := range ids {
		task := own.task(fmt.Sprint("a task of ", user), object{
			"links": []object{{"targetType": "NOTE", "targetId": sharedNote}},
		})
		ids[i] = task["taskId"].(string)
	}
	return ids
}

// told returns all of the note's backlinks that the user is shown in pages of the size: the ids, and each answer with
// its cursor decoded.
func (s *system) told(user string, limit int) (ids []string, answers []string) {
	s.t.Helper()
	own := *s
	own.user = user
	for path := ""; ; {
		page := own.must("GET", fmt.Sprintf("/v1/notes/%s/backlinks?limit=%d%s", sharedNote, limit, path), nil)
		text, err := json.Marshal(page)
		require.NoError(s.t, err)
		for _, item := range page["items"].([]any) {
			ids = append(ids, item.(object)["taskId"].(string))
		}
		cursor, more := page["nextCursor"].(string)
		plain, err := base64.RawURLEncoding.DecodeString(cursor)
		require.NoError(s.t, err)
		answers = append(answers, string(text)+string(plain))
		if !more {
			return ids, answers
		}
		path = "&cursor=" + cursor
	}
}

// Two users have an item with one id. Each of them pages through its backlinks and decodes the cursors.
func TestPlatform_showsNoBacklinksOfAnotherUser(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		s.user = "bea"
		status, _ := s.call("POST", "/v1/tasks", object{
			"title": "x", "links": []object{{"targetType": "NOTE", "targetId": sharedNote}},
		})
		require.Equal(t, 404, status, "a link to what the user does not have")
		own := map[string][]string{"ann": s.linked("ann", 7), "bea": s.linked("bea", 40)}
		s.waitUntilIdle()
		for user, others := range map[string][]string{"ann": own["bea"], "bea": own["ann"]} {
			slices.Sort(own[user])
			for _, limit := range []int{1, 2, 3, 4, 5, 6, 7, 8, 20, 39, 40, 41, 100} {
				ids, answers := s.told(user, limit)
				require.Equal(t, own[user], ids, "%s, in pages of %d", user, limit)
				require.Len(t, answers, (len(own[user])+limit-1)/limit, "%s, in pages of %d", user, limit)
				for _, answer := range answers {
					for _, id := range others {
						require.NotContains(t, answer, id, "%s, in pages of %d", user, limit)
						require.NotContains(t, answer, strings.TrimPrefix(id, "task_"), "%s, in pages of %d", user, limit)
					}
				}
			}
		}
	})
}
