package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/assert"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/item"
	"nexus/pkg/register"
	"nexus/pkg/table/dynamo"
)

// places are all that the functions of this suite left anywhere.
var places register.Walk

// walk ends a test: each row, object, schedule and event must have its line in the register.
func walk(t *testing.T, client *dynamodb.Client, table string, s *services) {
	walker := dynamo.NewWalker(client, dynamo.WithTable(table))
	err := walker.Walk(context.WithoutCancel(t.Context()), 0, 1, func(row item.Item) error {
		assert.True(t, places.Row(row.Str(item.AttrPK), row.Str(item.AttrSK)), "row %s is not in the register", row.Key())
		return nil
	})
	assert.NoError(t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.objects {
		_, name, _ = strings.Cut(name, "/") // behind the bucket
		assert.True(t, places.Object(name), "object %s is not in the register", name)
	}
	for name := range s.schedules {
		assert.True(t, places.Name(register.Scheduler, name), "schedule %s is not in the register", name)
	}
	for range s.walks.Waiting() {
		assert.True(t, places.Name(register.Queue, alarm.WalkQueue), "the queue of walks is not in the register")
	}
	for _, e := range s.published {
		assert.True(t, places.Name(register.Bus, e.DetailType), "event %s is not in the register", e.DetailType)
	}
}

// madeAll ends the suite. If all of its tests ran, they have made something of each line that names it.
func madeAll() bool {
	for _, name := range []string{"test.run", "test.skip"} {
		if flag.Lookup(name).Value.String() != "" {
			return true
		}
	}
	missing := places.Missing(register.Functions)
	if len(missing) > 0 {
		fmt.Fprintln(os.Stderr, "nothing was made of these lines of the register:", missing)
	}
	return len(missing) == 0
}
