package revision

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// maxAttempts bounds how often one write is repeated or started again.
const maxAttempts = 5

// Publisher writes prepared revisions and manages their drafts. It is safe for concurrent use.
type Publisher struct {
	store  table.Store
	now    func() time.Time
	newID  func() string
	inline int
	// load writes rows that no reader can see yet.
	load func(ctx context.Context, rows []item.Item) error
}

// NewPublisher returns a publisher. It panics if a part is missing or Inline is an impossible number of actions, which
// are mistakes in the program.
func NewPublisher(c Config) *Publisher {
	if c.Store == nil || c.Now == nil || c.NewID == nil {
		panic("revision: a part of the Config is missing")
	}
	if c.Inline == 0 {
		c.Inline = table.MaxActions
	}
	if c.Inline < 0 || c.Inline > table.MaxActions {
		panic(fmt.Sprintf("revision: %d actions in a transaction", c.Inline))
	}
	p := &Publisher{store: c.Store, now: c.Now, newID: c.NewID, inline: c.Inline, load: c.Store.Load}
	if c.LoadInTransactions {
		p.load = p.loadInTransactions
	}
	return p
}

// publication is one attempt to make prepared revisions the present ones.
type publication struct {
	*Publisher
	receipt  *idempotency.Receipt
	prepared []*Prepared
	drafted  []bool // by position in prepared: its rows are written first, under a draft
}

// publish makes all prepared revisions the present ones, or none. Errors that a caller decides on: [*ConflictError] if
// one of the heads has moved, [*idempotency.ReplayError] and [idempotency.ErrKeyReused] of the receipt, errSealed.
// After those, and other errors that are final, the revisions have not been published and never will be. After
// [table.ErrUnavailable] they may have been.
func (p *Publisher) publish(ctx context.Context, r *idempotency.Receipt, prepared ...*Prepared) error {
	pub := publication{Publisher: p, receipt: r, prepared: prepared, drafted: make([]bool, len(prepared))}
	pub.choose()
	err := pub.drafts(ctx)
	if err == nil {
		err = pub.commit(ctx)
	}
	if isFinal(err) {
		pub.withdraw(ctx)
	}
	return err
}

// isFinal reports whether an error means that its call has written nothing and never will. It is false for an error
// that the port does not define.
func isFinal(err error) bool {
	var (
		moved  *ConflictError
		replay *idempotency.ReplayError
		failed *table.ConditionError
	)
	switch {
	case err == nil || errors.Is(err, table.ErrUnavailable):
		return false
	case errors.Is(err, table.ErrThrottled), errors.Is(err, table.ErrConflict), errors.Is(err, table.ErrInvalid),
		errors.Is(err, idempotency.ErrKeyReused):
		return true
	}
	return errors.As(err, &moved) || errors.As(err, &replay) || errors.As(err, &failed)
}

// choose selects the snapshots to write before the transaction: the largest, until the rest fits into it. A row has
// some 12 KB at most, so that a hundred of them stay below the 4 MB of a transaction.
func (p *publication) choose() {
	for p.size() > p.inline {
		largest := -1
		for i, one := range p.prepared {
			if !p.drafted[i] && (largest < 0 || len(one.rows) > len(p.prepared[largest].rows)) {
				largest = i
			}
		}
		if largest < 0 {
			return
		}
		p.drafted[largest] = true
	}
}

// size returns the number of actions in the transaction.
func (p *publication) size() int {
	n := 0
	if p.receipt != nil {
		n++
	}
	for i, one := range p.prepared {
		n += 2
		if one.beginsDay() {
			n++
		}
		if one.rolledFrom != "" {
			n++
		}
		if p.drafted[i] {
			n++
		} else {
			n += len(one.rows)
		}
	}
	return n
}

// drafts writes the snapshots that precede the transaction, each after the draft that announces it.
func (p *publication) drafts(ctx context.Context) error {
	for i, one := range p.prepared {
		if !p.drafted[i] {
			continue
		}
		if err := p.announce(ctx, one); err != nil {
			return err
		}
		if err := p.load(ctx, one.rows); err != nil {
			return fmt.Errorf("write revision %s of %s: %w", one.commit.RevID, one.at, err)
		}
	}
	return nil
}

// withdraw removes the rows of an attempt that is lost for certain. The draft still announces rows that it cannot
// remove, and a later run finds them with the orphans. So the client's answer reports only why the attempt was lost.
func (p *publication) withdraw(ctx context.Context) {
	for i, one := range p.prepared {
		if p.drafted[i] {
			_, _ = p.discard(ctx, one.at, one.commit.RevID, true)
		}
	}
}

// commit moves the heads. It repeats the identical transaction while its outcome is unknown. The log entry of a
// revision, under a unique id, shows whether an earlier try took effect.
func (p *publication) commit(ctx context.Context) error {
	actions, judges := p.transaction()
	unknown := false
	var err error
	for range maxAttempts {
		err = p.store.Transact(ctx, actions...)
		var failed *table.ConditionError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &failed):
			return explainFailure(failed, judges)
		case !isFinal(err):
			unknown = true
		case !errors.Is(err, table.ErrConflict):
			return p.doubt(unknown, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return p.doubt(unknown, err)
}

// doubt interprets an error after which nothing was written, given an earlier try of unknown outcome.
func (p *publication) doubt(unknown bool, err error) error {
	err = fmt.Errorf("publish revision %s of %s: %w", p.prepared[0].commit.RevID, p.prepared[0].at, err)
	if unknown && !errors.Is(err, table.ErrUnavailable) {
		return fmt.Errorf("%w: %w", table.ErrUnavailable, err)
	}
	return err
}

// judges interpret, by an action's position, that its condition did not hold; nil means that it was written.
type judges map[int]func(old item.Item) error

// explainFailure interprets a refused transaction. An existing log entry has priority: this publication wrote it, and
// everything else failed because of that.
func explainFailure(failed *table.ConditionError, judges judges) error {
	var verdict error
	for _, f := range failed.Failures {
		means, ok := judges[f.Index]
		if !ok {
			continue
		}
		err := means(f.Old)
		if err == nil {
			return nil
		}
		if verdict == nil {
			verdict = err
		}
	}
	if verdict == nil {
		return fmt.Errorf("a condition failed that nobody set: %w", failed)
	}
	return verdict
}

// transaction lists the actions, the receipt first: a twin's receipt explains every other condition that fails.
func (p *publication) transaction() ([]table.Action, judges) {
	var actions []table.Action
	judges := judges{}
	now := p.now()
	add := func(a table.Action, means func(item.Item) error) {
		if means != nil {
			judges[len(actions)] = means
		}
		actions = append(actions, a)
	}
	if p.receipt != nil {
		add(remember(p.receipt, p.prepared, now), refused(p.receipt, now))
	}
	for i, one := range p.prepared {
		one.commit.CommittedAt = now.UTC().Truncate(time.Second)
		add(one.moveHead(), one.headMoved)
		add(table.Put{Item: one.commit.row(one.at, one.sourceAttr), If: table.NotExists()},
			func(item.Item) error { return nil })
		if one.beginsDay() {
			add(table.Put{Item: one.at.DayKey().Item()}, nil)
		}
		if one.rolledFrom != "" { // it may have been pruned, as long as no head names it
			add(table.Check{Key: one.named, If: table.Exists()}, func(item.Item) error { return ErrOutdated })
		}
		if p.drafted[i] {
			add(one.takeDraft(), func(item.Item) error { return errSealed })
			continue
		}
		for _, row := range one.rows {
			add(table.Put{Item: row}, nil)
		}
	}
	return actions, judges
}

// beginsDay reports whether the revision is the first of a day's plan.
func (p *Prepared) beginsDay() bool { return p.at.Date != "" && p.head.RevID == "" }

// moveHead returns the update on whose condition a revision is made: the head is still the parent.
func (p *Prepared) moveHead() table.Update {
	u := table.Update{
		Key: p.at.HeadKey(),
		Set: item.Item{
			attrHeadRevID:        item.String(p.commit.RevID),
			attrHeadRevTs:        item.String(item.FormatInstant(p.commit.RevTs)),
			entity.AttrUpdatedAt: item.String(item.FormatInstant(p.commit.CommittedAt)),
		},
		If: table.NotExists(),
	}
	if p.rolledFrom != "" {
		u.Set[attrRolledFrom] = item.String(p.rolledFrom)
	}
	if p.head.RevID != "" {
		u.If = table.Exists(table.Equal(attrHeadRevID, item.String(p.head.RevID)))
	}
	return u
}

func (p *Prepared) headMoved(old item.Item) error {
	head, err := readHead(old)
	if err != nil {
		return err
	}
	return &ConflictError{p.at, head}
}
