package local_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// writesPerSecond is the load of docs/performance.md, "From a write to its effect".
const writesPerSecond = 50

// BenchmarkWriteToDerivedEffect writes at a steady rate and measures, from the moment a write was acknowledged, until
// both readers have finished its record: from then on every derived effect of it is visible. The time of an operation
// is the rate's and says nothing; p50, p99 and max do.
func BenchmarkWriteToDerivedEffect(b *testing.B) {
	for _, store := range []local.Store{local.Memory, local.DynamoDB} {
		b.Run(string(store), func(b *testing.B) {
			p, err := local.Start(b.Context(), local.Options{
				Store: store, Ephemeral: store == local.DynamoDB, Addr: "127.0.0.1:0", Limits: roomy(b),
			})
			require.NoError(b, err)
			s := clientOf(b, p)
			b.Cleanup(s.stop)
			seen := finished(s.listen())
			tick := time.NewTicker(time.Second / writesPerSecond)
			defer tick.Stop()
			acknowledged := map[string]time.Time{}
			for b.Loop() {
				<-tick.C
				at := s.now().Add(24 * time.Hour).Format(time.RFC3339)
				id := s.task("measured", object{"dueUtc": at, "dueTzid": "UTC", "reminderMinutes": []int{10}})["taskId"].(string)
				acknowledged[id] = time.Now()
			}
			var latencies []time.Duration
			for range acknowledged {
				select {
				case f := <-seen:
					latencies = append(latencies, max(0, f.at.Sub(acknowledged[f.id])))
				case <-time.After(10 * time.Second):
					b.Fatal("a record was not finished")
				}
			}
			slices.Sort(latencies)
			report := func(name string, d time.Duration) { b.ReportMetric(float64(d.Microseconds())/1000, name) }
			report("p50-ms", latencies[len(latencies)/2])
			report("p99-ms", latencies[len(latencies)*99/100])
			report("max-ms", latencies[len(latencies)-1])
		})
	}
}

// finishedTask is a task whose record both readers have finished.
type finishedTask struct {
	id string
	at time.Time
}

func finished(happenings <-chan string) <-chan finishedTask {
	out := make(chan finishedTask, 100_000)
	go func() {
		readers := map[string]int{}
		for what := range happenings {
			data, isChange := strings.CutPrefix(what, "change ")
			at := time.Now()
			var change struct {
				Record struct {
					DynamoDB struct {
						NewImage struct {
							TaskID struct{ S string } `json:"taskId"`
						}
					} `json:"dynamodb"`
				} `json:"record"`
			}
			if !isChange || json.Unmarshal([]byte(data), &change) != nil {
				continue
			}
			id := change.Record.DynamoDB.NewImage.TaskID.S
			if readers[id]++; id != "" && readers[id] == 2 {
				out <- finishedTask{id, at}
			}
		}
	}()
	return out
}

// BenchmarkConsole writes as fast as the system takes it and waits until every effect is there, with the console's hook
// and without, in turns: what the hook costs of the whole.
func BenchmarkConsole(b *testing.B) {
	const batches = 10
	for _, store := range []local.Store{local.Memory, local.DynamoDB} {
		b.Run(string(store), func(b *testing.B) {
			var took [2]time.Duration
			var systems [2]*system
			for i := range systems {
				p, err := local.Start(b.Context(), local.Options{
					Store: store, Ephemeral: store == local.DynamoDB, Addr: "127.0.0.1:0", Limits: roomy(b), NoConsole: i == 0,
				})
				require.NoError(b, err)
				systems[i] = clientOf(b, p)
				b.Cleanup(systems[i].stop)
			}
			made := 0
			batch := func() (commands []object) {
				for range 100 {
					made++
					commands = append(commands, object{"id": strconv.Itoa(made), "type": "CreateTask", "data": object{
						"title": "t", "dueUtc": "2090-01-01T00:00:00Z", "dueTzid": "UTC",
					}})
				}
				return commands
			}
			for n := 0; b.Loop(); n++ {
				for turn := range systems {
					of := (n + turn) % 2
					began := time.Now()
					for range batches {
						systems[of].must("POST", "/v1/commands", object{"commands": batch()})
					}
					systems[of].waitUntilIdle()
					took[of] += time.Since(began)
				}
			}
			b.ReportMetric(100*(took[1].Seconds()/took[0].Seconds()-1), "%more")
		})
	}
}
