package replay_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
)

const scriptFolder = "../../testdata/replay"

// TestReplay_playsEveryScript plays every script of the folder; -rewrite stores their output. Then each goes
// again in every other way there is, and must end in the same state.
func TestReplay_playsEveryScript(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(scriptFolder, "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, variation{})
			var steps []datadriven.TestData
			datadriven.RunTest(t, file, func(_ *testing.T, d *datadriven.TestData) string {
				steps = append(steps, *d)
				return p.step(d)
			})
			if t.Failed() || datadriven.Verbose() && len(steps) == 0 {
				return
			}
			want := p.end()
			all := variations(len(p.log), p.effects)
			for _, v := range all {
				other := newPlay(t, v)
				for i := range steps {
					d := steps[i]
					other.step(&d)
				}
				require.Equal(t, want, other.end(), "%s: %s", file, v.name)
			}
			t.Logf("%d records, %d effects, %d variations", len(p.log), p.effects, len(all))
		})
	}
}

// end is the state in which the play ends.
func (p *play) end() string {
	p.runUntilIdle()
	if p.v.again {
		clear(p.at)
		p.runUntilIdle()
	}
	// A late record of a completion brings its timer back, which has expired by then.
	p.system.Store.Sweep(p.system.Now(), 0)
	p.runUntilIdle()
	return p.state()
}

// step carries out one command of a script and returns what it prints.
func (p *play) step(d *datadriven.TestData) string {
	number := func(key string, otherwise int) int {
		if !d.HasArg(key) {
			return otherwise
		}
		var n int
		d.ScanArgs(p.t, key, &n)
		return n
	}
	switch d.Cmd {
	case "write":
		if d.HasArg("user") {
			d.ScanArgs(p.t, "user", &p.user)
		}
		return p.write(d.Input)
	case "advance":
		by, err := time.ParseDuration(p.first(d))
		require.NoError(p.t, err, d.Pos)
		p.system.MoveTo(p.system.Now().Add(by))
		return p.system.Now().Format(time.RFC3339) + "\n"
	case "pass":
		by, err := time.ParseDuration(p.first(d))
		require.NoError(p.t, err, d.Pos)
		return p.pass(p.system.Now().Add(by))
	case "deliver":
		records, troubles := p.deliver(p.first(d), number("dup", 1))
		return fmt.Sprintf("%s%d records\n", troubles, records)
	case "redeliver":
		p.at[p.first(d)] = 0
		records, troubles := p.deliver(p.first(d), 1)
		return fmt.Sprintf("%s%d records\n", troubles, records)
	case "fail":
		p.faults = append(p.faults, &fault{port: p.first(d), nth: number("nth", 1), after: d.HasArg("after")})
		return "ok\n"
	case "poison":
		p.poison[d.CmdArgs[1].Key+"_"+uuidOf(p.number(d.CmdArgs[1]))] = p.first(d)
		return "ok\n"
	case "inject":
		p.read()
		for line := range strings.Lines(d.Input) {
			p.log = append(p.log, json.RawMessage(expand(strings.TrimSpace(line))))
		}
		return "ok\n"
	case "redrive":
		return p.redrive()
	case "sweep":
		var out []string
		for _, key := range p.system.Store.Sweep(p.system.Now(), 0) {
			if !strings.HasPrefix(key.SK, entity.RowReceipt) {
				out = append(out, shorten(key.SK)+"\n")
			}
		}
		slices.Sort(out)
		return strings.Join(append(out, strconv.Itoa(len(out))+" rows\n"), "")
	case "fire":
		return fmt.Sprintf("%d calls\n", p.fire())
	case "settle":
		return p.runUntilIdle() + "ok\n"
	case "state":
		return p.state()
	}
	require.Fail(p.t, "unknown command "+d.Cmd, d.Pos)
	return ""
}

func (p *play) first(d *datadriven.TestData) string {
	require.NotEmpty(p.t, d.CmdArgs, "%s: %s wants an argument", d.Pos, d.Cmd)
	return d.CmdArgs[0].Key
}

func (p *play) number(arg datadriven.CmdArg) int {
	n, err := strconv.Atoi(arg.SingleVal(p.t))
	require.NoError(p.t, err)
	return n
}
