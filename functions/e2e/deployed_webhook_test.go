package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

// receiverPath is where the receiver of webhooks is called.
const receiverPath = "/told"

// receiver keeps what a webhook is told.
type receiver struct {
	url string

	mu   sync.Mutex
	told []told
}

type told struct {
	body   string
	header http.Header
}

// ServeHTTP implements [http.Handler].
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, told{string(body), request.Header})
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) all() []told {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]told{}, r.told...)
}

// requireReceiverTold makes a webhook, and waits until its receiver was told of a task and of a test.
func (d *deployed) requireReceiverTold(p *person) {
	d.Helper()
	hook := p.must(http.MethodPost, "/v1/webhooks", -1, map[string]any{
		"url": d.phone.hooks.url, "types": []string{"task.created"},
	})
	path := "/v1/webhooks/" + hook["webhookId"].(string)
	task := p.create("tasks", map[string]any{})
	reader, err := standardwebhooks.NewWebhook(hook["secret"].(string))
	require.NoError(d, err)
	d.await("the receiver is told of the task", func() bool { return len(d.phone.hooks.all()) > 0 })
	p.must(http.MethodPost, path+"/test", -1, nil)
	d.await("the receiver is told of the test", func() bool { return len(d.phone.hooks.all()) > 1 })
	for i, want := range []string{task.id, `"webhook.test"`} {
		one := d.phone.hooks.all()[i]
		require.NoError(d, reader.Verify([]byte(one.body), one.header))
		require.True(d, strings.Contains(one.body, want), one.body)
	}
	d.await("all is delivered", func() bool {
		items := p.must(http.MethodGet, path+"/deliveries", -1, nil)["items"].([]any)
		for _, each := range items {
			if each.(map[string]any)["state"] != "done" {
				return false
			}
		}
		return len(items) == 2
	})
}
