package reminders

import (
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/schedule"
)

// State holds the rows of an item, for [Desired].
type State struct {
	User string
	Type *entity.Type
	ID   string
	Item item.Item // its row; nil if it is gone
	// Master is the series' row of an INSTANCE; nil if that is gone.
	Master item.Item
	// Instances are all INSTANCE rows of a MASTER.
	Instances  []item.Item
	Meta       item.Item   // the user's USER_META; nil if there is none
	Deliveries []item.Item // the item's FIRED rows
}

// Desired returns the schedules that an item of a type with reminders is to have: one for each offset whose next due
// instant is still to come. The consumer works towards them; the tests compare the scheduler with them. An error
// means that a row is damaged: USER_META has no zone that exists, or the rule cannot be compiled.
func Desired(in State, now time.Time) ([]schedule.Schedule, error) {
	s := snapshot{
		target: target{in.User, in.Type, in.ID}, now: now, lead: maxLead, item: live(in.Item, now),
		master:    live(in.Master, now),
		instances: in.Instances, meta: in.Meta, deliveries: map[item.Key]item.Item{},
	}
	if err := s.addDeliveries(in.Deliveries); err != nil {
		return nil, err
	}
	if s.meta == nil {
		s.meta = product.NewUserMeta(in.User, time.Time{})
	}
	var err error
	if s.zone, err = zoneOf(s.meta); err == nil {
		s.dues, err = s.computeDues(nil, s.hasDelivery)
	}
	if err != nil {
		return nil, fmt.Errorf("schedules of %s: %w", s.target.key(), err)
	}
	var out []schedule.Schedule
	for _, w := range decide(s, scopeOf(s.dues)).schedules {
		out = append(out, w.schedule)
	}
	return out, nil
}
