package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nexus/pkg/change"
)

// consumers in the order of the deployment table.
var consumers = []string{"stats", "links", "reminders", "archive"}

// variation is another way for the same script to go, which must end in the same state.
type variation struct {
	name       string
	twice      bool     // every record comes twice
	crashAt    int      // the writing call at which a process dies; 0 for none
	crashAfter bool     // after its effect
	cuts       []int    // places in the log at which no batch goes on
	batch      int      // most records of a batch; 0 for all
	turns      []string // the consumers in another order
	again      bool     // everything is delivered again at the end
}

func (v variation) order() []string {
	if v.turns == nil {
		return consumers
	}
	return v.turns
}

func (v variation) doubled(batch []json.RawMessage) []json.RawMessage {
	if !v.twice {
		return batch
	}
	var out []json.RawMessage
	for _, r := range batch {
		out = append(out, r, r)
	}
	return out
}

// cutBehind is the end of the batch that begins at from.
func (v variation) cutBehind(from, end int) int {
	for _, cut := range v.cuts {
		if from < cut && cut < end {
			end = cut
		}
	}
	if v.batch > 0 {
		end = min(end, from+v.batch)
	}
	return end
}

// variations are all for a script that wrote so many records and made so many writing calls at work.
func variations(records, effects int) []variation {
	all := []variation{{name: "every record twice", twice: true}, {name: "full replay at the end", again: true}}
	for n := range effects {
		all = append(all,
			variation{name: fmt.Sprintf("crash before effect %d", n+1), crashAt: n + 1},
			variation{name: fmt.Sprintf("crash after effect %d", n+1), crashAt: n + 1, crashAfter: true})
	}
	for cut := 1; cut < records; cut++ {
		all = append(all, variation{name: fmt.Sprintf("cut at %d", cut), cuts: []int{cut}})
	}
	all = append(all, variation{name: "one record a batch", batch: 1})
	for _, turns := range permutations(consumers)[1:] {
		all = append(all, variation{name: fmt.Sprint("in turn ", turns), turns: turns})
	}
	return all
}

func permutations(of []string) [][]string {
	if len(of) == 0 {
		return [][]string{nil}
	}
	var out [][]string
	for i, first := range of {
		rest := slices.Delete(slices.Clone(of), i, i+1)
		for _, tail := range permutations(rest) {
			out = append(out, append([]string{first}, tail...))
		}
	}
	return out
}

var errPoison = errors.New("the script says so")

// refusing returns the consumer, which cannot process what the script says.
func refusing(of change.Consumer, p *play) change.Consumer {
	return change.Wrap(of, func(ctx context.Context, batch []change.Change) []change.Outcome {
		outcomes := make([]change.Outcome, len(batch))
		var rest []change.Change
		var places []int
		for i, c := range batch {
			if p.poison[c.Ref.ID] == of.Name() {
				outcomes[i] = change.Outcome{Verdict: change.Poison, Err: errPoison}
				continue
			}
			rest, places = append(rest, c), append(places, i)
		}
		if len(rest) > 0 {
			for k, o := range of.Apply(ctx, rest) {
				outcomes[places[k]] = o
			}
		}
		return outcomes
	})
}
