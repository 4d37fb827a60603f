package api

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/table"
)

// room judges the quotas of an operation before it is carried out. The repetition of a request that was carried out is
// let through: it adds nothing, and its client must learn what became of it.
func (a *API) room(ctx context.Context, o *operation, c call) error {
	if a.cfg.limiter == nil || !c.limited || o.fills == nil {
		return nil
	}
	err := o.fills(ctx, &a.cfg, c)
	var full *limit.QuotaError
	if !errors.As(err, &full) || c.key == "" {
		return err
	}
	receipt, wrong := idempotency.New(c.user, c.key, c.retention, nil)
	if wrong != nil {
		return err
	}
	row, failed := table.Find(ctx, a.cfg.Limits.Store, receipt.Key)
	switch {
	case failed != nil:
		return failed
	case row != nil:
		return nil
	}
	return err
}

// fillsContent returns the judgement of an operation that makes one more item of the type.
func fillsContent(t *entity.Type) func(context.Context, *Config, call) error {
	quota := quotaOf(t)
	return func(ctx context.Context, s *Config, c call) error {
		return s.limiter.Room(ctx, c.user, withReminders(c, quota, limit.Gone)...)
	}
}

// fillsChanged returns the judgement of an operation that changes an item of the type: it may bring reminders. It
// returns nil if items of the type have none.
func fillsChanged(t *entity.Type) func(context.Context, *Config, call) error {
	if !reminders.Has(t) {
		return nil
	}
	return fillsReminders
}

// fillsReminders judges the reminders that the body of a call brings.
func fillsReminders(ctx context.Context, s *Config, c call) error {
	if quotas := withReminders(c); len(quotas) > 0 {
		return s.limiter.Room(ctx, c.user, quotas...)
	}
	return nil
}

// withReminders returns the quotas, and that of open schedules if the body of the call brings a reminder.
func withReminders(c call, quotas ...string) []string {
	if offsets, _ := c.doc[product.AttrReminderMinutes].([]any); len(offsets) > 0 || c.doc[product.AttrTriggerUtc] != nil {
		return append(quotas, limit.Schedules)
	}
	return quotas
}

// fillsException judges an operation that may make one more exception of a series, by its row: that of an occurrence
// which has one already is changed.
func fillsException(ctx context.Context, s *Config, c call) error {
	err := s.limiter.Room(ctx, c.user, withReminders(c, limit.Exceptions)...)
	var full *limit.QuotaError
	if !errors.As(err, &full) || full.Name != limit.Exceptions {
		return err
	}
	id := entity.InstanceID(c.path[product.AttrMasterID], c.path[memberDate])
	if !isOccurrence(id) {
		return nil // the operation refuses it
	}
	row, failed := table.Find(ctx, s.Limits.Store, entity.ItemKey(c.user, entity.Ref{Type: entity.TypeInstance, ID: id}))
	switch {
	case failed != nil:
		return failed
	case row != nil:
		return fillsReminders(ctx, s, c)
	}
	return err
}

func isOccurrence(id string) bool {
	_, _, err := entity.ParseInstanceID(id)
	return err == nil
}

// fillsSeries judges an operation that makes one more series.
func fillsSeries(ctx context.Context, s *Config, c call) error {
	if err := s.limiter.Room(ctx, c.user, withReminders(c, limit.Content, limit.Gone)...); err != nil {
		return err
	}
	return s.limiter.Count(ctx, c.user, limit.Series, table.Query{
		Eventual: true, Partition: entity.UserPK(c.user), Range: table.Range{Prefix: entity.ItemPrefix(entity.TypeMaster)},
	})
}

// fillsRestored judges the restoration of an item from the archive, whose type its id tells.
func fillsRestored(ctx context.Context, s *Config, c call) error {
	if t := s.Registry.ByID(c.path["id"]); t != nil {
		return s.limiter.Room(ctx, c.user, quotaOf(t))
	}
	return nil
}

// histories are the quotas of revisions, whose refusal names pruning.
var histories = []string{limit.TreeRevisions, limit.LargeTreeRevisions, limit.PlanRevisions}

// fillsTree judges an operation that makes a revision of the values tree. The revision is made on the present one, so
// no other can come in between: the count is exact.
func fillsTree(ctx context.Context, s *Config, c call) error {
	at := repository.Address{User: c.user}
	used, err := s.revisions(ctx, at)
	if err != nil {
		return err
	}
	if err := s.limiter.Check(limit.TreeRevisions, used); err != nil {
		return err
	}
	if s.limiter.Check(limit.LargeTreeRevisions, used) == nil {
		return nil
	}
	head, err := s.Values.Head(ctx, c.user)
	if err != nil {
		return err
	}
	nodes, err := s.Limits.Store.Count(ctx, table.Query{
		Partition: at.SnapshotPK(head.RevID), Range: table.Range{Prefix: repository.NodesPrefix()},
	})
	switch {
	case err != nil:
		return fmt.Errorf("count the nodes of %s: %w", at, err)
	case nodes <= limit.LargeTree:
		return nil
	}
	return s.limiter.Check(limit.LargeTreeRevisions, used)
}

// fillsPlan judges an operation that makes a revision of the day's plan.
func fillsPlan(ctx context.Context, s *Config, c call) error {
	return s.planRoom(ctx, repository.Address{User: c.user, Date: c.path[memberDate]})
}

// fillsNextPlan judges an operation that makes a revision of the next day's plan.
func fillsNextPlan(ctx context.Context, s *Config, c call) error {
	at := repository.Address{User: c.user, Date: c.path[memberDate]}
	if day, err := item.ParseDate(at.Date); err == nil { // else the operation refuses it
		at.Date = item.FormatDate(day.AddDate(0, 0, 1))
	}
	return s.planRoom(ctx, at)
}

// fillsPlanAndTree judges an operation that makes a revision of both.
func fillsPlanAndTree(ctx context.Context, s *Config, c call) error {
	if err := fillsTree(ctx, s, c); err != nil {
		return err
	}
	return fillsPlan(ctx, s, c)
}

// planRoom judges one more revision of a plan. The first of a day needs room for the day. The operation itself refuses
// an address that no plan has.
func (s *Config) planRoom(ctx context.Context, at repository.Address) error {
	if !isRepository(at) {
		return nil
	}
	used, err := s.revisions(ctx, at)
	if err != nil || used > 0 {
		return errors.Join(err, s.limiter.Check(limit.PlanRevisions, used))
	}
	return s.limiter.Count(ctx, at.User, limit.Plans, table.Query{
		Partition: repository.UserPK(at.User), Range: table.Range{Prefix: repository.DayPrefix()},
	})
}

func isRepository(at repository.Address) bool { return at.Check() == nil }

// revisions counts the revisions of a repository.
func (s *Config) revisions(ctx context.Context, at repository.Address) (int, error) {
	n, err := s.Limits.Store.Count(ctx, table.Query{
		Partition: at.LogPK(), Range: table.Range{Prefix: at.LogPrefix()},
	})
	if err != nil {
		return 0, fmt.Errorf("count the revisions of %s: %w", at, err)
	}
	return n, nil
}

const memberNearLimits = "nearLimits"

// nearLimits returns the member of the user's own row that warns of quotas; nil if there is nothing to warn of.
func (s *Config) nearLimits(meta item.Item) []byte {
	if s.limiter == nil {
		return nil
	}
	var out []byte
	for i, q := range s.limiter.Near(meta) {
		out = append(appendComma(out, i), `{"quota":`...)
		out = appendText(out, q.Name)
		out = fmt.Appendf(out, `,"limit":%d,"used":%d}`, q.Limit, q.Used)
	}
	if out == nil {
		return nil
	}
	return append(append([]byte(`,"`+memberNearLimits+`":[`), out...), ']')
}

// nearLimitsSchema returns that member for the document.
func nearLimitsSchema() member {
	count := func(doc string) object {
		return object{{"type", "integer"}, {"minimum", 0}, {"description", doc}}
	}
	return member{memberNearLimits, object{
		{"type", "array"}, {"description", "Of what 80 percent or more of a quota is used; absent if of nothing."},
		{"items", object{
			{"type", "object"},
			{"properties", object{
				{"quota", object{{"type", "string"}, {"enum", quotaNames()}, {"description", "Of what."}}},
				{"limit", count("How many there may be.")}, {"used", count("How many there are.")},
			}},
			{"required", []string{"quota", "limit", "used"}},
		}},
	}}
}

// quotaOf returns the quota that items of the type use.
func quotaOf(t *entity.Type) string {
	if t.Name == product.TypeNote {
		return limit.Notes
	}
	return limit.Content
}
