package query

import (
	"sync"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// maxRules bounds the compiled rules of each of a cache's two generations: a few hundred bytes each.
const maxRules = 2048

// rules caches compiled rules between questions: every agenda needs all of a user's series, and compiling them was a
// fifth of its work. A rule is found by the row's key and version, which determine it, so that none is ever outdated.
// When a generation is full, the one before it is forgotten; a rule that is used again moves to the new one.
type rules[R any] struct {
	mu          sync.Mutex
	young, aged map[ruleKey]R
}

type ruleKey struct {
	row     item.Key
	version int64
}

// compiled returns the compiled rule of a row. A version of 0 is no version, and is compiled each time.
func (c *rules[R]) compiled(row item.Item, compile func(item.Item) (R, error)) (R, error) {
	key := ruleKey{row.Key(), row.Int(entity.AttrVersion)}
	if rule, ok := c.find(key); ok {
		return rule, nil
	}
	rule, err := compile(row)
	if err == nil {
		c.keep(key, rule)
	}
	return rule, err
}

func (c *rules[R]) find(key ruleKey) (R, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if rule, ok := c.young[key]; ok {
		return rule, true
	}
	rule, ok := c.aged[key]
	if ok {
		c.add(key, rule)
	}
	return rule, ok
}

func (c *rules[R]) keep(key ruleKey, rule R) {
	if key.version == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(key, rule)
}

func (c *rules[R]) add(key ruleKey, rule R) {
	if len(c.young) >= maxRules {
		c.aged, c.young = c.young, nil
	}
	if c.young == nil {
		c.young = make(map[ruleKey]R)
	}
	c.young[key] = rule
}
