package query

import (
	"sync"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/recurrence"
)

// maxRules bounds the compiled rules of each of two generations: a few hundred bytes each.
const maxRules = 2048

// rules caches compiled rules between questions: every agenda needs all of a user's series, and compiling them was a
// fifth of its work. A rule is found by the row's key and version, which determine it, so that none is ever outdated.
// When a generation is full, the one before it is forgotten; a rule that is used again moves to the new one.
type rules struct {
	mu          sync.Mutex
	young, aged map[ruleKey]*recurrence.Series
}

type ruleKey struct {
	row     item.Key
	version int64
}

// compiled returns the compiled rule of a row. A version of 0 is no version, and is compiled each time.
func (c *rules) compiled(
	row item.Item, compile func(item.Item) (*recurrence.Series, error),
) (*recurrence.Series, error) {
	key := ruleKey{row.Key(), row.Int(entity.AttrVersion)}
	if rule := c.find(key); rule != nil {
		return rule, nil
	}
	rule, err := compile(row)
	if err != nil {
		return nil, err
	}
	c.keep(key, rule)
	return rule, nil
}

func (c *rules) find(key ruleKey) *recurrence.Series {
	c.mu.Lock()
	defer c.mu.Unlock()
	if rule := c.young[key]; rule != nil {
		return rule
	}
	rule := c.aged[key]
	if rule != nil {
		c.add(key, rule)
	}
	return rule
}

func (c *rules) keep(key ruleKey, rule *recurrence.Series) {
	if key.version == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(key, rule)
}

func (c *rules) add(key ruleKey, rule *recurrence.Series) {
	if len(c.young) >= maxRules {
		c.aged, c.young = c.young, nil
	}
	if c.young == nil {
		c.young = make(map[ruleKey]*recurrence.Series)
	}
	c.young[key] = rule
}
