package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// secret stands for the text of users, which is for them alone.
const secret = "Xyzzy"

// requireSecret ends the program and requires that nothing it wrote contains the secret.
func (f *function) requireSecret() {
	f.Helper()
	f.kill()
	for _, out := range []*output{f.log, f.out} {
		for line := range strings.Lines(out.String()) {
			require.NotContains(f, line, secret)
		}
	}
}

// wrongValues are values that an attribute may turn out to have, each with the secret.
func wrongValues() []string {
	return []string{
		`{"S":"` + secret + `"}`, `{"N":"` + secret + `"}`, `{"BOOL":"` + secret + `"}`, `"` + secret + `"`,
		`{"SS":["` + secret + `","` + secret + `"]}`, `{"M":{"` + secret + `":{"S":"` + secret + `"}}}`,
		`{"L":[{"M":{"targetType":{"S":"` + secret + `"}}}]}`,
	}
}

// spoiled returns the record with one attribute of its new image replaced.
func spoiled(t *testing.T, record json.RawMessage, name, value, sequence string) json.RawMessage {
	t.Helper()
	doc := object(t, string(record))
	dynamodb := doc["dynamodb"].(map[string]any)
	dynamodb["SequenceNumber"] = sequence
	dynamodb["NewImage"].(map[string]any)[name] = json.RawMessage(value)
	text, err := json.Marshal(doc)
	require.NoError(t, err)
	return text
}

func TestFunctions_logNoTextOfAUserForAnyBadRecord(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"stream-task-created", "stream-reminder-created", "stream-series-created", "stream-task-archived",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			whole, err := consume.Records(w.happen(name))
			require.NoError(t, err)
			var records []json.RawMessage
			for _, record := range whole {
				image := object(t, string(record))["dynamodb"].(map[string]any)["NewImage"].(map[string]any)
				for _, attribute := range slices.Sorted(maps.Keys(image)) {
					if attribute == entity.AttrType || attribute == item.AttrPK || attribute == item.AttrSK ||
						attribute == entity.AttrVersion {
						continue // errors name rows and versions
					}
					for _, value := range wrongValues() {
						records = append(records,
							spoiled(t, record, attribute, value, fmt.Sprintf("140540000000000219990%06d", len(records))))
					}
				}
			}
			for _, reader := range []env.Function{env.Projections, env.Effects} {
				f := w.start(reader)
				for batch := range slices.Chunk(records, 100) {
					f.succeed(consume.Event(batch))
				}
				f.requireSecret()
			}
			for _, stored := range w.services.stored() {
				parked, err := consume.ReadParked([]byte(w.services.content(stored)))
				if err == nil { // others are cold copies
					require.NotContains(t, parked.Reason, secret, "%s", stored)
				}
			}
		})
	}
}

func TestFunctions_logNothingThatAUserSent(t *testing.T) {
	t.Parallel()
	w := setup(t)
	commands, queries, notify := w.start(env.Command), w.start(env.Query), w.start(env.Notify)
	for _, body := range []string{
		`{"title":"` + secret + `"}`, `{"` + secret + `":1}`, `{"title":` + secret + `}`, `{"dueUtc":"` + secret + `"}`,
		`{"title":"x","title":"` + secret + `"}`,
		`{"title":"x","rrule":"FREQ=` + secret + `"}`, `{"title":"x","links":[{"targetType":"` + secret + `","targetId":"` +
			secret + `"}]}`, secret, `"` + secret, `{"tags":["` + secret + `"`,
	} {
		payload := changed(t, w.payload("command-create-task"), map[string]any{
			"body": body, "headers/idempotency-key": secret + body[:2],
		})
		commands.request(payload)
		commands.invoke([]byte(`{"userId":"ann","commands":[{"id":"1","type":"CreateTask","data":` + body + `}]}`))
		commands.invoke([]byte(body))
		queries.invoke([]byte(body))
		notify.invoke([]byte(body))
	}
	for _, path := range []string{"/v1/tasks/" + secret, "/" + secret, "/v1/agenda"} {
		queries.request(changed(t, w.payload("query-task"), map[string]any{
			"rawPath": path, "rawQueryString": "from=" + secret + "&cursor=" + secret,
		}))
	}
	for _, payload := range []string{
		`{"userId":"` + secret + `#","itemType":"TASK"}`, `{"userId":"ann","itemType":"TASK","itemId":"` + secret + `"}`,
	} {
		notify.invoke([]byte(payload))
	}
	commands.requireSecret()
	queries.requireSecret()
	notify.requireSecret()
}
