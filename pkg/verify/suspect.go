package verify

import (
	"context"
	"errors"
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/mask"
	"nexus/pkg/port"
)

const (
	// maxSuspects bounds the items that wait for their second read.
	maxSuspects = 5000
	// lookItems is how many of them are read together.
	lookItems = 25
	// looks bounds how often a changing item is read.
	looks = 5
)

// suspect is an item with a possible difference.
type suspect struct {
	user string
	typ  *entity.Type
	id   string
	was  []string // the differences, each in a word
	// schedule is a name that belongs to the item but that it does not require; empty for a suspect about the item.
	schedule string
}

func (d Difference) word() string {
	return strings.Join([]string{string(d.Kind), d.Key, d.Is, d.ShouldBe}, "\x00")
}

func words(differences []Difference) []string {
	out := make([]string, len(differences))
	for i, d := range differences {
		out[i] = d.word()
	}
	return out
}

// suspect records an item for its second read.
func (r *run) suspect(ctx context.Context, g group, differences []Difference) error {
	if len(differences) == 0 {
		return nil
	}
	return r.note(ctx, suspect{g.user, g.typ, g.id, words(differences), ""})
}

func (r *run) note(ctx context.Context, s suspect) error {
	if r.suspects = append(r.suspects, s); len(r.suspects) < maxSuspects {
		return nil
	}
	return r.recheckSuspects(ctx, s.user)
}

// recheckSuspects reads all suspects a second time. The same finding is a difference; another one means that a write
// was under way, and the item is read again.
func (r *run) recheckSuspects(ctx context.Context, _ string) error {
	open := r.suspects
	r.suspects = nil
	for look := 0; len(open) > 0 && look < looks; look++ {
		if err := r.Wait(ctx, r.Grace); err != nil {
			return err
		}
		r.master = knownMaster{}
		var still []suspect
		for some := range slices.Chunk(open, lookItems) {
			moved, err := r.secondLook(ctx, some)
			if err != nil {
				return err
			}
			still = append(still, moved...)
		}
		open = still
	}
	r.sum.Unsettled += int64(len(open))
	if len(open) > 0 {
		r.Log.WarnContext(ctx, "items kept changing while they were verified", "items", len(open), "first", open[0].id)
	}
	return nil
}

// secondLook reads some suspects again. Those with another finding are moved: they are read again later.
func (r *run) secondLook(ctx context.Context, of []suspect) (moved []suspect, err error) {
	groups, err := r.readGroups(ctx, of)
	if err != nil {
		return nil, err
	}
	for i, s := range of {
		differences, err := r.recheck(ctx, s, &groups[i])
		if err != nil {
			return nil, err
		}
		same := slices.DeleteFunc(slices.Clone(differences), func(d Difference) bool {
			return !slices.Contains(s.was, d.word())
		})
		if len(same) < len(differences) {
			s.was = words(differences)
			moved = append(moved, s)
			continue
		}
		for _, d := range same {
			if err := r.found(d); err != nil {
				return nil, err
			}
		}
		if r.repairing && len(same) > 0 {
			if err := r.repair(ctx, groups[i], same); err != nil {
				return nil, err
			}
		}
	}
	return moved, nil
}

// recheck checks an item or, for a suspect about a schedule, that schedule alone: the item is checked separately.
func (r *run) recheck(ctx context.Context, s suspect, g *group) ([]Difference, error) {
	if s.schedule == "" {
		differences, _, err := r.check(ctx, g)
		return differences, err
	}
	d, _, err := r.checkStray(ctx, s.schedule)
	if d == nil {
		return nil, err
	}
	return []Difference{*d}, err
}

// repair repairs the findings of one item, each by its owner's method. The read after the repair shows what could not
// be repaired now.
func (r *run) repair(ctx context.Context, g group, differences []Difference) error {
	if gone := first(r.other(g, familyGone)); g.item != nil && gone != nil {
		err := r.deleteGone(ctx, &g, gone)
		if err == nil { // what is derived of the item goes, too
			differences, _, err = r.check(ctx, &g)
		}
		if err != nil {
			return r.forgive(ctx, g.user, g.id, err)
		}
	}
	kinds, keys := map[Kind]bool{}, map[string]bool{}
	var offsets []int64
	for _, d := range differences {
		kinds[d.Kind], keys[d.Key] = true, true
		if d.Kind == Schedule || d.Kind == Late {
			offsets = append(offsets, d.offset)
		}
	}
	var errs []error
	for i, p := range r.Projections {
		isWrong := keys[entity.LedgerKey(g.user, p.Name(), g.id).String()]
		switch {
		case p.Summed() && isWrong:
			r.rebuild[i] = true
		case !p.Summed() && (isWrong || kinds[Edge]):
			errs = append(errs, r.consumers[i].Repair(ctx, r.evidence(g, i)))
		}
	}
	if kinds[Archive] {
		errs = append(errs, r.Archive.Repair(ctx, g.user, g.typ, g.id))
	}
	if kinds[Exception] {
		errs = append(errs, r.clearException(ctx, g))
	}
	if kinds[Delivery] {
		for _, row := range r.other(g, familyDelivery) {
			_, err := r.Notifier.Redrive(ctx, row)
			errs = append(errs, err)
		}
	}
	if len(offsets) > 0 {
		errs = append(errs, r.Reminders.Reconcile(ctx, g.user, g.typ, g.id, offsets...))
	}
	return r.forgive(ctx, g.user, g.id, errors.Join(errs...))
}

// forgive logs and counts a repair that failed, so that the run continues. The read after the repair need not show it:
// a delivery that the repair began counts as under way. It returns errors that must end the run.
func (r *run) forgive(ctx context.Context, user, what string, err error) error {
	if err == nil || port.IsOutage(err) {
		return err
	}
	r.failed++
	r.Log.ErrorContext(ctx, "repair failed", mask.User(user), "of", what, "error", err)
	return nil
}
