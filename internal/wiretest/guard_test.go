package wiretest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
)

// sent is a request as a client of the service sends it.
func sent(method, url, service, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, url, strings.NewReader(body))
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=id/20260102/eu-central-1/"+service+"/aws4_request, "+
		"SignedHeaders=content-type;host;x-amz-checksum-crc32c;x-amz-checksum-mode;x-amz-content-sha256;x-amz-date;"+
		"x-amz-target, Signature="+strings.Repeat("0", 64))
	r.Header.Set("X-Amz-Date", "20260102T030405Z")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	return r
}

// faults returns what is wrong with a request.
func faults(s wiretest.Service, r *http.Request, body string) string {
	_, found := s.Check(r, []byte(body))
	return strings.Join(found, "\n")
}

// broken is a request that is whole until one part of it is replaced by another.
type broken struct{ old, instead, want string }

// requireEachFound requires that the whole is accepted, and that each change of it is found.
func requireEachFound(
	t *testing.T, s wiretest.Service, whole string, send func(body string) *http.Request, all []broken,
) {
	t.Helper()
	require.Empty(t, faults(s, send(whole), whole))
	for _, b := range all {
		require.Equal(t, 1, strings.Count(whole, b.old), "%s is not in %s once", b.old, whole)
		body := strings.Replace(whole, b.old, b.instead, 1)
		require.Contains(t, faults(s, send(body), body), b.want, "%s instead of %s", b.instead, b.old)
	}
}

func TestSigner_holdsEveryRuleOfASignature(t *testing.T) {
	t.Parallel()
	get := func(headers ...string) *http.Request {
		return sent(http.MethodGet, "/schedules/a?groupName=g", "scheduler", "", headers...)
	}
	require.Empty(t, faults(wiretest.Scheduler(), get(), ""))
	for want, header := range map[string]string{
		"is no signature": "Authorization: Bearer x",
		"signed for s3": "Authorization: " +
			strings.Replace(get().Header.Get("Authorization"), "/scheduler/", "/s3/", 1),
		"the host is not signed": "Authorization: " +
			strings.Replace(get().Header.Get("Authorization"), ";host", "", 1),
		"does not fit the scope":       "X-Amz-Date: 20260103T030405Z",
		"x-amz-api-version is not sig": "X-Amz-Api-Version: 1",
		"header X-Amz-Else is unknown": "X-Amz-Else: 1",
	} {
		require.Contains(t, faults(wiretest.Scheduler(), get(header), ""), want)
	}
}

func TestGuard_failsItsTestAndForwardsTheRequest(t *testing.T) {
	t.Parallel()
	inner := &recorder{TB: t}
	served := 0
	guard := wiretest.NewGuard(inner, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }),
		wiretest.Scheduler(), wiretest.S3())
	guard.ServeHTTP(httptest.NewRecorder(), sent(http.MethodGet, "/schedules/a?groupName=g", "scheduler", ""))
	require.Zero(t, inner.errors)
	guard.ServeHTTP(httptest.NewRecorder(), sent(http.MethodGet, "/schedules/a?groupName=g&x=1", "scheduler", ""))
	require.Equal(t, 1, inner.errors)
	guard.ServeHTTP(httptest.NewRecorder(), sent(http.MethodGet, "/a", "sqs", ""))
	require.Equal(t, 2, inner.errors)
	guard.Also(func(wiretest.Call) []string { return []string{"a rule of one's own"} })
	guard.ServeHTTP(httptest.NewRecorder(), sent(http.MethodGet, "/schedules/a?groupName=g", "scheduler", ""))
	require.Equal(t, 3, inner.errors)
	require.Equal(t, 4, served)
	require.Equal(t, []string{"GetSchedule", "GetSchedule", "GetSchedule"}, guard.Operations())
}

func TestGuard_judgesByRefusingInsteadOfFailing(t *testing.T) {
	t.Parallel()
	guard := wiretest.NewGuard(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		wiretest.Scheduler()).RefuseViolations()
	for target, status := range map[string]int{
		"/schedules/a?groupName=g": http.StatusOK, "/schedules/a?groupName=": http.StatusBadRequest,
	} {
		answer := httptest.NewRecorder()
		guard.ServeHTTP(answer, sent(http.MethodGet, target, "scheduler", ""))
		require.Equal(t, status, answer.Code)
	}
}

// recorder counts what a guard reports.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Errorf(string, ...any) { r.errors++ }
