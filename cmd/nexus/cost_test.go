package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCostCommand_printsTheBillBesideTheDocumentsFigures(t *testing.T) {
	t.Parallel()
	code, results, messages := nexus(t, "cost", "--scale", "0.0001")
	require.Equal(t, exitDone, code, messages)
	require.Empty(t, messages)
	for _, line := range []string{
		"10000 users, 30 days, 1 of the users replayed", "the source document", "39.42", "all together",
		"by the setting door", "create an event", "modelled", "counted",
	} {
		require.Contains(t, results, line)
	}
}

func TestCostCommand_takesAnotherPriceList(t *testing.T) {
	t.Parallel()
	code, list, messages := nexus(t, "cost", "--show-prices")
	require.Equal(t, exitDone, code, messages)
	file := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(list, `"price": 0.625`, `"price": 0`, 1)), 0o600))
	code, results, messages := nexus(t, "cost", "--scale", "0.0001", "--prices", file, "--json")
	require.Equal(t, exitDone, code, messages)
	var answer struct {
		Bill struct {
			Table struct {
				Lines []struct {
					What, Unit     string
					Quantity, Cost float64
				}
			}
		}
		Month struct{ Users int }
	}
	require.NoError(t, json.Unmarshal([]byte(results), &answer))
	require.Equal(t, 1, answer.Month.Users)
	for _, l := range answer.Bill.Table.Lines {
		require.Positive(t, l.Quantity, l.What)
		if l.Unit == "write request units" {
			require.Zero(t, l.Cost, l.What)
		}
	}

	require.NoError(t, os.WriteFile(file, []byte(`{"prices": {}}`), 0o600))
	code, results, messages = nexus(t, "cost", "--prices", file)
	require.Equal(t, exitUsage, code)
	require.Empty(t, results)
	require.Contains(t, messages, "tableWrites")
	code, _, _ = nexus(t, "cost", "--scale", "0")
	require.Equal(t, exitUsage, code)
}
