// Package coldstart_test measures how long each function takes from the start of its process until it asks for its
// first invocation, beside a function that does nothing, and how large its program for Lambda is.
package coldstart_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/tools/bundle"
	"nexus/pkg/deploy/env"
	"nexus/pkg/limit"
)

// empty is the program that the others are measured against.
const empty = "empty"

// BenchmarkColdStart starts each function in turn with the empty one, so that whatever else the machine does disturbs
// both alike; what counts is the ratio of the medians.
func BenchmarkColdStart(b *testing.B) {
	names, packages := []string{empty}, []string{"./" + empty}
	for _, f := range env.Functions() {
		names, packages = append(names, string(f)), append(packages, "nexus/functions/"+string(f))
	}
	here, there := b.TempDir(), b.TempDir()
	require.NoError(b, bundle.Build(b.Context(), "", bundle.Here(), here, packages...))
	require.NoError(b, bundle.Build(b.Context(), "", bundle.Lambda(), there, packages...))
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			var starts [2][]began // of the function, and of the empty one
			for i := 0; b.Loop(); i++ {
				for j := range starts {
					which := (i + j) % len(starts) // neither always comes after the other
					one, err := start(b.Context(), filepath.Join(here, []string{name, empty}[which]), environment())
					require.NoError(b, err)
					starts[which] = append(starts[which], one)
				}
			}
			program, err := os.Stat(filepath.Join(there, name))
			require.NoError(b, err)
			own, least := medianOf(starts[0]), medianOf(starts[1])
			b.ReportMetric(milliseconds(own.clock), "start-ms")
			b.ReportMetric(float64(own.clock)/float64(least.clock), "times-empty")
			b.ReportMetric(milliseconds(own.processor), "cpu-ms")
			b.ReportMetric(float64(own.processor)/float64(least.processor), "cpu-times-empty")
			b.ReportMetric(float64(program.Size()), "Lambda-B")
		})
	}
}

// medianOf is the median of the times on the clock, and that of the processor times.
func medianOf(starts []began) began {
	var clock, processor []time.Duration
	for _, s := range starts {
		clock, processor = append(clock, s.clock), append(processor, s.processor)
	}
	slices.Sort(clock)
	slices.Sort(processor)
	return began{clock[(len(clock)-1)/2], processor[(len(processor)-1)/2]}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// environment has every variable of every function; a function takes what it needs.
func environment() []string {
	return []string{
		"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=none", "AWS_SECRET_ACCESS_KEY=none", "AWS_SESSION_TOKEN=none",
		env.TableName + "=ProductivityData", env.ArchiveBucket + "=nexus-archive", env.ParkingBucket + "=nexus-parking",
		env.SnapshotBucket + "=nexus-snapshots", env.BusName + "=nexus", env.ScheduleGroup + "=nexus",
		env.HintsHost + "=h.example", env.HintsRealtimeHost + "=r.example",
		env.ScheduleTargetARN + "=arn:aws:lambda:eu-central-1:123456789012:function:nexus-notify",
		env.ScheduleRoleARN + "=arn:aws:iam::123456789012:role/nexus-scheduler",
		env.ScheduleDeadLetterARN + "=arn:aws:sqs:eu-central-1:123456789012:nexus-undelivered",
		env.SyncForm + "=0", env.SubjectForm + "=2", env.Pepper + "=" + strings.Repeat("01", 32),
		env.Limits + "=" + limit.Format(limit.Default()),
		env.Scopes + "=nexus/all", env.FeedOrigin + "=https://nexus.example.net",
		env.Issuer + "=https://i.example", env.Audience + "=a",
		env.APIAddress + "=https://a.example", env.TokenEndpoint + "=https://i.example/token", env.TokenScope + "=r w",
		env.ClientID + "=c", env.ClientSecret + "=s", env.Announce + "=" + env.AnnounceNone,
		env.EdgeSecrets + "=" + env.EdgeNone,
		env.PushKey + "=B" + strings.Repeat("A", 86), env.PushKeyParameter + "=/nexus/push",
		env.HookKeyParameter + "=/nexus/webhooks",
		env.PushHosts + "=" + env.PushHostsAny,
		env.DeliverARN + "=arn:aws:lambda:eu-central-1:123456789012:function:nexus-deliver:live",
		env.WalkQueueURL + "=https://sqs.eu-central-1.amazonaws.com/123456789012/nexus-walks.fifo",
	}
}

func TestColdstart_givesEachFunctionItsVariables(t *testing.T) {
	t.Parallel()
	for _, f := range env.Functions() {
		_, err := env.Read(f, func(name string) string {
			for _, variable := range environment() {
				if value, is := strings.CutPrefix(variable, name+"="); is {
					return value
				}
			}
			return ""
		})
		require.NoError(t, err, f)
	}
}

func TestColdstart_measuresAStartUntilAnInvocationIsAskedFor(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, bundle.Build(t.Context(), "", bundle.Here(), folder, "./"+empty))
	one, err := start(t.Context(), filepath.Join(folder, empty), environment())
	require.NoError(t, err)
	require.Positive(t, one.clock)
	require.Positive(t, one.processor)
}

func TestColdstart_failsWithTheOutputOfAProgramThatEnds(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho TABLE_NAME is missing >&2\nexit 1\n"), 0o755))
	_, err := start(t.Context(), program, nil)
	require.ErrorContains(t, err, "TABLE_NAME is missing")
}

func TestColdstart_takesTheMiddleOfEachTime(t *testing.T) {
	t.Parallel()
	require.Equal(t, began{4, 8}, medianOf([]began{{3, 100}, {50, 8}, {4, 6}}))
}
