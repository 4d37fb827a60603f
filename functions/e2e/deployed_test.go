package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
)

// templateVariable names the file of the template that is run: make deployed sets it.
const templateVariable = "NEXUS_TEMPLATE"

func TestFunctions_workAsTheTemplateWiresThem(t *testing.T) {
	path := os.Getenv(templateVariable)
	if path == "" {
		t.Skip("make deployed synthesizes the template, and names it in " + templateVariable)
	}
	d := deploy(t, path, 1)
	defer d.stop()
	token := bearer{"user-0", "https://id.example.com", "nexus", "nexus/read nexus/write"}
	a := d.ask(token, "POST", "/v1/reminders", fmt.Sprintf(`{"title":"Ring","triggerUtc":%q}`,
		time.Now().Add(5*time.Second).UTC().Format(instantForm)), nil)
	require.Equal(t, http.StatusCreated, a.StatusCode, "%s", a.Body)
	began := time.Now()
	d.await("the statistics follow", func() bool {
		a := d.ask(token, "GET", "/v1/me/stats", "", nil)
		var stats struct{ TotalReminders int }
		require.NoError(t, json.Unmarshal([]byte(a.Body), &stats), a.Body)
		return stats.TotalReminders == 1
	})
	t.Log("statistics", time.Since(began))
	d.await("the reminder rings", func() bool { return len(d.services.events("ReminderDue")) == 1 })
	t.Log("rings", time.Since(began))
	d.awaitQuiet()
	unused, all := d.rights.unused()
	t.Logf("%d of %d rights were not used", len(unused), all)
	_ = entity.MetaKey
}
