package eventbridge_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/schedule"
	"nexus/pkg/schedule/eventbridge"
)

// attempts bounds how often the SDK tries a call, with the settings of the functions.
const attempts = 3

// line is an adapter behind a network that fails as the test demands.
type line struct {
	*eventbridge.Scheduler
	network *wiretest.Network
	guard   *wiretest.Guard
	service *service
}

func connect(t *testing.T) *line {
	t.Helper()
	fake := &service{schedules: map[string]*stored{}}
	network, guard, server := wiretest.Serve(t, wiretest.Scheduler(), fake)
	s, err := eventbridge.New(client(server.URL, attempts, func(o *scheduler.Options) {
		o.HTTPClient = &http.Client{Transport: network.Impatient(http.DefaultTransport)}
	}), config)
	require.NoError(t, err)
	return &line{s, network, guard.Also(complete), fake}
}

// calls are the port's calls by the operation that decides them.
func (l *line) calls(ctx context.Context) map[string]func() error {
	return map[string]func() error{
		"CreateSchedule": func() error { return l.Put(ctx, due) },
		"UpdateSchedule": func() error { return l.Put(ctx, due) },
		"DeleteSchedule": func() error { return l.Delete(ctx, due.Name) },
		"GetSchedule": func() error {
			_, err := l.Find(ctx, due.Name)
			return err
		},
		"ListSchedules": func() error { return l.Each(ctx, "", func(string) error { return nil }) },
	}
}

// meanings returns the error that a caller gets for each error that the service documents.
func meanings() map[string]error {
	return map[string]error{
		"ValidationException":           schedule.ErrInvalid,
		"ThrottlingException":           schedule.ErrThrottled,
		"ServiceQuotaExceededException": schedule.ErrQuota,
		"ConflictException":             schedule.ErrUnavailable,
		"ResourceNotFoundException":     schedule.ErrUnavailable,
		"InternalServerException":       schedule.ErrUnavailable,
		"ServiceUnavailable":            schedule.ErrUnavailable,
		"AccessDeniedException":         schedule.ErrUnavailable,
		"ExpiredTokenException":         schedule.ErrUnavailable,
		"UnrecognizedClientException":   schedule.ErrUnavailable,
	}
}

func TestSentinel_hasAMeaningForEachDocumentedError(t *testing.T) {
	t.Parallel()
	want := meanings()
	for _, operation := range wiretest.Scheduler().Operations {
		for _, refusal := range operation.Refusals {
			t.Run(operation.Name+" "+refusal.Code, func(t *testing.T) {
				t.Parallel()
				l := connect(t)
				l.network.Always(wiretest.Refused(refusal), operation.Name)
				err := l.calls(t.Context())[operation.Name]()
				switch operation.Name + " " + refusal.Code {
				case "UpdateSchedule ResourceNotFoundException": // it is created
					require.NoError(t, err)
					require.Equal(t, []string{"UpdateSchedule", "CreateSchedule"}, l.guard.Operations())
				case "DeleteSchedule ResourceNotFoundException": // it is deleted
					require.NoError(t, err)
				case "GetSchedule ResourceNotFoundException":
					require.ErrorIs(t, err, schedule.ErrNotFound)
				default:
					require.Contains(t, want, refusal.Code)
					require.ErrorIs(t, err, want[refusal.Code])
					require.ErrorContains(t, err, refusal.Code)
				}
				tries := 1
				switch {
				case refusal.Repeated:
					tries = attempts
				case refusal.Code == "ConflictException": // another writer was faster, which may not hold the next time
					tries = 4
				}
				require.Equal(t, tries, l.network.Requests())
			})
		}
	}
}

func TestSentinel_recognisesEveryNameOfThrottling(t *testing.T) {
	t.Parallel()
	for _, refusal := range []wiretest.Refusal{
		{Status: 400, Code: "TooManyRequestsException"}, {Status: 429, Code: "Unknown"},
	} {
		l := connect(t)
		l.network.Always(wiretest.Refused(refusal))
		require.ErrorIs(t, l.Put(t.Context(), due), schedule.ErrThrottled)
	}
}

func TestIsRole_recognisesARoleThatCannotBeAssumedYet(t *testing.T) {
	t.Parallel()
	l := connect(t)
	l.service.fail = func(string) (failure, bool) {
		return failure{400, "ValidationException",
			"The execution role you provide must allow AWS EventBridge Scheduler to assume the role."}, false
	}
	err := l.Put(t.Context(), due)
	require.ErrorIs(t, err, schedule.ErrUnavailable)
	require.NotErrorIs(t, err, schedule.ErrInvalid)
	require.ErrorContains(t, err, "assume the role")
}

func TestScheduler_retriesAfterAFaultOnTheWay(t *testing.T) {
	t.Parallel()
	faults := map[string]wiretest.Fault{
		"reset": wiretest.Reset(), "lost": wiretest.Lost(), "cut": wiretest.Cut(),
		"internal":  wiretest.Refused(wiretest.Refusal{Status: 500, Code: "InternalServerException"}),
		"throttled": wiretest.Refused(wiretest.Refusal{Status: 429, Code: "ThrottlingException"}),
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			for range 2 { // created, then updated
				l.network.Next(fault, fault)
				require.NoError(t, l.Put(t.Context(), due))
				require.Equal(t, []schedule.Schedule{due}, l.service.pending())
			}
			l.network.Next(fault, fault)
			found, err := l.Find(t.Context(), due.Name)
			require.NoError(t, err)
			require.Equal(t, due, found)
			l.network.Next(fault, fault)
			require.NoError(t, l.Delete(t.Context(), due.Name), "also if a lost attempt has deleted it")
			require.Empty(t, l.service.pending())
		})
	}
}

func TestScheduler_isUnavailableAfterBoundedAttempts(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]wiretest.Fault{
		"reset": wiretest.Reset(), "lost": wiretest.Lost(), "cut": wiretest.Cut(), "damaged": wiretest.Damaged(),
		"silent": wiretest.Silent(),
	} {
		for _, operation := range wiretest.Scheduler().Operations {
			t.Run(operation.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				l := connect(t)
				if operation.Name != "CreateSchedule" {
					require.NoError(t, l.Put(t.Context(), due))
				}
				l.network.Always(fault, operation.Name)
				err := l.calls(t.Context())[operation.Name]()
				if operation.Name == "DeleteSchedule" && (name == "cut" || name == "damaged") {
					require.NoError(t, err, "its answer has no content: the status says all")
					return
				}
				require.ErrorIs(t, err, schedule.ErrUnavailable)
				tries := attempts
				if name == "damaged" { // it was an answer
					tries = 1
				}
				require.Equal(t, tries, l.network.Requests())
			})
		}
	}
}

func TestPut_recognisesARepeatedCreateByItsToken(t *testing.T) {
	t.Parallel()
	l := connect(t)
	l.network.Next(wiretest.Refused(wiretest.Refusal{Status: 404, Code: "ResourceNotFoundException"}), wiretest.Lost())
	require.NoError(t, l.Put(t.Context(), due))
	calls := l.guard.Calls()
	require.Equal(t, []string{"UpdateSchedule", "CreateSchedule", "CreateSchedule"}, l.guard.Operations(),
		"no conflict, so no further update")
	require.Equal(t, calls[1].Input["ClientToken"], calls[2].Input["ClientToken"])
}
