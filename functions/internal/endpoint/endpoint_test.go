package endpoint_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/internal/endpoint"
	"nexus/pkg/api"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
)

// What is counted as an error takes a new version of the function back.
func TestObserve_countsNoErrorThatIsTheIssuers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seen api.Observation
		want string
	}{
		{api.Observation{Status: 200}, ""},
		{api.Observation{Status: 404}, metric.ClientErrors},
		{api.Observation{Status: 429}, metric.RequestsLimited},
		{api.Observation{Status: 500}, metric.ServerErrors},
		{api.Observation{Status: 503}, metric.ServerErrors},
		{api.Observation{Status: 503, Unjudged: true}, ""},
	} {
		var out bytes.Buffer
		endpoint.Observe(env.Command, metric.NewWriter(&out, time.Now))(c.seen)
		require.Equal(t, c.want == "", out.Len() == 0, "%v: %s", c.seen, &out)
		require.Contains(t, out.String(), c.want)
	}
}
