package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/local"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/verify"
)

func TestVerifyCommand_repairsFromOutsideAndInsideTheProcess(t *testing.T) {
	t.Parallel()
	base := runningSystem(t, local.DynamoDB)
	load(t, base, 2, 10)
	c := newClient(base)
	defer c.close()
	settled, err := c.call(t.Context(), http.MethodPost, "/dev/settle", object{}, -1)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, settled.Status)
	info, err := c.call(t.Context(), http.MethodGet, "/dev/info", nil, -1)
	require.NoError(t, err)
	endpoint := info.Body.Str("endpoint")
	inside := []string{"verify", "--dev", base}
	here := []string{"verify", "--endpoint", endpoint, "--table", info.Body.Str("table"), "--grace", "10ms"}

	code, results, messages := nexus(t, inside...)
	require.Equal(t, exitDone, code, results+messages)
	require.Contains(t, results, "0 differences found, 0 remain")
	require.Empty(t, messages)
	code, results, messages = nexus(t, here...)
	require.Equal(t, exitDone, code, results+messages)
	require.Contains(t, messages, "not checked: schedules")

	client, done, err := local.NewClient(endpoint)
	require.NoError(t, err)
	defer done()
	store := dynamo.New(client)
	wrong := product.EmptyStats()
	wrong[product.StatTotalTasks] = item.Int(77)
	meta := entity.MetaKey("user0")
	damage := func() {
		_, err := store.Update(t.Context(), table.Update{Key: meta, Set: item.Item{product.AttrStats: wrong}})
		require.NoError(t, err)
	}
	damage()
	for _, where := range [][]string{inside, here} {
		code, results, messages = nexus(t, append(where, "--json", "--user", "user0")...)
		require.Equal(t, exitFailed, code, results+messages)
		require.Contains(t, messages, "differences remain")
		lines := strings.Split(strings.TrimSpace(results), "\n")
		var first verify.Difference
		require.NoError(t, json.Unmarshal([]byte(lines[0]), &first))
		require.Equal(t, verify.Difference{Kind: verify.Statistics, User: "user0", Key: meta.String(), Is: first.Is,
			ShouldBe: first.ShouldBe, Remains: true}, first)
		require.Contains(t, lines[len(lines)-1], `{"summary":{"users":1,`)
		code, results, messages = nexus(t, append(where, "--user", "user1")...)
		require.Equal(t, exitDone, code, results+messages)

		code, results, messages = nexus(t, append(where, "--repair")...)
		require.Equal(t, exitDone, code, results+messages)
		require.Contains(t, results, "found    statistics user0")
		require.Contains(t, results, " 0 remain")
		code, results, messages = nexus(t, inside...)
		require.Equal(t, exitDone, code, results+messages)
		damage()
	}
}

func TestVerifyCommand_namesWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{}, {"--dev", "http://127.0.0.1:1", "--endpoint", "http://127.0.0.1:1"},
		{"--dev", "http://127.0.0.1:1", "--user", "a#b"},
		{"--dev", "http://127.0.0.1:1", "--grace", "soon"},
	} {
		code, _, messages := nexus(t, append([]string{"verify"}, args...)...)
		require.Equal(t, exitUsage, code, "%v: %s", args, messages)
	}
	code, _, messages := nexus(t, "verify", "--dev", "http://127.0.0.1:1")
	require.Equal(t, exitFailed, code, messages)
}
