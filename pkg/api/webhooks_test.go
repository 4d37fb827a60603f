package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/limit"
	"nexus/pkg/outbound"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/webhook"
)

// webhooks are those of the fixture, to which nothing is sent.
func (b *fixture) webhooks() *api.Webhooks {
	master, err := webhook.NewMaster(strings.NewReader(strings.Repeat("m", 32)))
	b.NoError(err)
	return &api.Webhooks{
		Endpoints: &webhook.Endpoints{
			Outbox: webhook.Outbox{Store: b.store, Scheduler: schedulememory.New(nil), Now: b.clock}, NewID: b.newID,
			Master: func(context.Context) (webhook.Master, error) { return master, nil },
		},
		CheckURL: outbound.Config{Ports: webhook.Ports()}.Check,
	}
}

const hookBody = `{"url":"https://hooks.example.com/secret-path","types":["task.*"]}`

func TestAPI_tellsTheSecretOfAWebhookOnCreationAndRotationAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.want(201, post("/v1/webhooks", hookBody).with("Idempotency-Key", "one"))
	path := "/v1/webhooks/" + made.text("webhookId")
	b.Contains(made.text("secret"), "whsec_")
	b.Contains(made.text("publicKey"), "whpk_")
	again := b.want(201, post("/v1/webhooks", hookBody).with("Idempotency-Key", "one"))
	b.Equal(made.text("secret"), again.text("secret"), "a client that lost the answer gets it again")
	for _, one := range []string{path, "/v1/webhooks"} {
		b.NotContains(b.want(200, get(one)).Body.String(), "whsec_")
	}
	b.want(404, get(path).by("bob"))
	for _, action := range []string{"/test", "/redeliver", "/rotate"} {
		b.want(404, post(path+action, "").by("bob"))
	}
	b.want(404, get(path+"/deliveries").by("bob"))
	rotated := b.want(200, post(path+"/rotate", ""))
	b.NotEqual(made.text("secret"), rotated.text("secret"))
	b.Contains(rotated.Body.String(), `"generation":2`)
	b.NotContains(b.log.String(), "secret-path")
}

func TestAPI_refusesWebhooksThatMayNotBeCalled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, bad := range []string{
		"http://hooks.example.com/a", "https://10.0.0.1/a", "https://localhost/a", "https://user@hooks.example.com/a",
		"https://hooks.example.com:9000/a", "https://[::1]/a", "nothing",
	} {
		refused := b.want(422, post("/v1/webhooks", `{"url":"`+bad+`","types":["*"]}`))
		b.Contains(refused.Body.String(), `"/url"`, bad)
		made := b.want(201, post("/v1/webhooks", hookBody))
		b.want(422, request{method: "PATCH", path: "/v1/webhooks/" + made.text("webhookId"), body: `{"url":"` + bad + `"}`}.
			with("If-Match", `"1"`))
	}
	b.want(201, post("/v1/webhooks", `{"url":"https://hooks.example.com:8443/a","types":["*"]}`))
	for _, bad := range []string{`[]`, `["task"]`, `["Task.created"]`, `["*.created"]`, `["task.*.x"]`, `"task.*"`} {
		refused := b.want(422, post("/v1/webhooks", `{"url":"https://hooks.example.com/a","types":`+bad+`}`))
		b.Contains(refused.Body.String(), `/types`, bad)
	}
}

func TestAPI_makesAsManyWebhooksAsThereMayBe(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) {
		numbers, err := limit.Default().With(map[string]int{limit.Webhooks: 2})
		require.NoError(t, err)
		c.Limits = limit.Config{Numbers: numbers, Draw: func() float64 { return 0 }}
	})
	for range 2 {
		b.want(201, post("/v1/webhooks", hookBody))
	}
	b.full(b.do(post("/v1/webhooks", hookBody)), "quota-reached", limit.Webhooks, 2, 2)
}

func TestAPI_showsDeliveriesAndSendsThemAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/webhooks/" + b.want(201, post("/v1/webhooks", hookBody)).text("webhookId")
	b.Empty(b.want(200, get(path+"/deliveries")).items())
	seen := map[string]bool{}
	for range 3 {
		seen[b.want(202, post(path+"/test", "")).text("messageId")] = true
		b.now = b.now.Add(time.Second)
	}
	b.Len(seen, 3)
	first := b.want(200, get(path+"/deliveries?limit=2"))
	b.Len(first.items(), 2)
	rest := b.want(200, get(path+"/deliveries?limit=2&cursor="+first.text("nextCursor")))
	b.Len(rest.items(), 1)
	b.Empty(rest.text("nextCursor"))
	for _, query := range []string{
		"state=dead", "type=task.created", "to=2020-01-01T00:00:00Z", "from=2030-01-01T00:00:00Z",
	} {
		b.Empty(b.want(200, get(path+"/deliveries?"+query)).items(), query)
	}
	b.Len(b.want(200, get(path+"/deliveries?state=pending&type=webhook.test")).items(), 3)
	other := "/v1/webhooks/" + b.want(201, post("/v1/webhooks", hookBody)).text("webhookId")
	b.want(400, get(other+"/deliveries?cursor="+first.text("nextCursor")))
	b.JSONEq(`{"count":0}`, b.want(200, post(path+"/redeliver", `{"dryRun":true}`)).Body.String())
	b.want(400, post(path+"/redeliver", `{"cursor":"x"}`))
	b.want(422, post(path+"/redeliver", `{"state":"pending"}`))
	b.Contains(b.want(422, post(path+"/redeliver", `{"ids":[]}`)).Body.String(), `"/ids"`)
	for _, wrong := range []struct{ query, body, at string }{
		{"from=2030-01-01T00:00:00Z&to=2020-01-01T00:00:00Z",
			`{"from":"2030-01-01T00:00:00Z","to":"2020-01-01T00:00:00Z"}`, `"/to"`},
		{"type=nonsense", `{"type":"nonsense"}`, `"/type"`},
		{"type=task.finished", `{"type":"task.finished"}`, `"/type"`},
	} {
		listed := b.want(422, get(path+"/deliveries?"+wrong.query))
		b.Contains(listed.Body.String(), wrong.at)
		again := b.want(422, post(path+"/redeliver", wrong.body))
		b.Equal(listed.doc["errors"], again.doc["errors"], "both refuse the same way")
	}
	for kind, n := range map[string]int{"webhook.*": 3, "*": 3, "task.*": 0} {
		b.Len(b.want(200, get(path+"/deliveries?type="+kind)).items(), n, kind)
		b.want(200, post(path+"/redeliver", `{"dryRun":true,"type":"`+kind+`"}`))
	}
	for _, unknown := range []string{"task.finished", "foo.*", "foo", "TASK.created"} {
		refused := b.want(422, post("/v1/webhooks", `{"url":"https://example.com/","types":["*","`+unknown+`"]}`))
		b.Equal([]string{"/types/1"}, refused.pointers(), unknown)
	}
	b.want(200, request{method: "PATCH", path: path, body: `{"status":"DISABLED"}`}.with("If-Match", `"1"`))
	for _, action := range []string{"/test", "/redeliver"} {
		b.want(409, post(path+action, ""))
	}
	b.Len(b.want(200, get(path+"/deliveries")).items(), 3)
}

func TestAPI_callsNoWebhooksWhereThereAreNone(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Webhooks = nil })
	b.want(404, post("/v1/webhooks", hookBody))
	b.Empty(b.want(200, get("/v1/webhooks")).items())
	b.want(400, get("/v1/webhooks?tags=home"))
}

func TestAPI_saysWhichTypesOfEventsAWebhookMayHave(t *testing.T) {
	t.Parallel()
	b := setup(t)
	none := b.want(422, post("/v1/webhooks", `{"url":"https://hooks.example.com/a","types":[]}`))
	b.Contains(none.text("detail"), "/types is required, with one member at least")
	refused := b.want(422, post("/v1/webhooks",
		`{"url":"https://hooks.example.com/a","types":["Task.*","task.*","event.completed","plan.*"]}`))
	b.Equal([]string{"/types/0", "/types/2", "/types/3"}, refused.pointers())
	detail := func(i int) string {
		one, _ := refused.doc["errors"].([]any)[i].(map[string]any)
		text, _ := one["detail"].(string)
		return text
	}
	b.Contains(detail(0), "must be one of *, ")
	b.Contains(detail(0), "; did you mean task.*?")
	b.Contains(detail(1), "must be event.* or one of ")
	b.Contains(detail(1), "event.created, ")
	b.NotContains(detail(1), "task.")
	b.Contains(detail(2), "reminder.*, ")
	b.NotContains(detail(2), "did you mean")
}

func TestAPI_describesWhatAWebhookHas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := func(at any, path ...string) any {
		for _, name := range path {
			of, _ := at.(map[string]any)
			b.Contains(of, name)
			at = of[name]
		}
		return at
	}
	doc := b.want(200, get("/openapi.json")).doc
	for _, one := range in(doc, "paths", "/v1/webhooks", "get", "parameters").([]any) {
		b.NotEqual("tags", one.(map[string]any)["name"])
	}
	hit := in(doc, "paths", "/v1/search", "get", "responses", "200", "content", "application/json", "schema", "properties",
		"items", "items", "properties", "entityType", "enum")
	b.Contains(hit, "NOTE")
	b.NotContains(hit, "WEBHOOK")
	b.NotContains(b.want(422, get("/v1/search?status=DISABLED")).text("detail"), ", DISABLED")
	b.EqualValues(1, in(doc, "components", "schemas", "Webhook", "properties", "types", "minItems"))
}
