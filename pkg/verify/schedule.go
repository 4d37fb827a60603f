package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/archive"
	"nexus/pkg/blob"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/port"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
)

const (
	// callTime is how long after its instant the delivery of a reminder may take.
	callTime = 10 * time.Minute
	// maxStalled bounds the walks of one user that a run resumes.
	maxStalled = 1000
	// maxResumes bounds the calls that complete one of them.
	maxResumes = 10_000
)

// schedules finds schedules that no item requires, and those under a name of the former form. It lists the names in the
// scheduler's order.
func (r *run) schedules(ctx context.Context) error {
	if r.Reminders == nil {
		return nil
	}
	err := r.Schedules.Each(ctx, reminders.SchedulePrefix, func(name string) error {
		if r.o.User != "" && !reminders.IsFormerName(name) && !strings.HasPrefix(name, reminders.UserPrefix(r.o.User)) {
			return nil // another user's
		}
		r.read(1)
		d, subject, err := r.checkStray(ctx, name)
		switch {
		case err != nil || d == nil:
			return err
		case subject.ID == "":
			return r.unreadable(ctx, *d)
		}
		return r.note(ctx, suspect{subject.User, subject.Type, subject.ID, words([]Difference{*d}), name})
	})
	if err != nil {
		return fmt.Errorf("verify schedules: %w", err)
	}
	return r.recheckSuspects(ctx, "")
}

// subjectOf returns the subject of a schedule; not ok if its payload is unreadable, or its name belongs to another
// subject.
func (r *run) subjectOf(s schedule.Schedule) (subject reminders.Subject, ok bool) {
	subject, err := reminders.ReadPayload(r.Registry, s.Payload)
	return subject, err == nil && (s.Name == subject.Name() || s.Name == subject.FormerName())
}

// checkStray returns the difference if no item requires the schedule, or if its name is of the former form; the zero
// subject if its payload is unreadable.
func (r *run) checkStray(ctx context.Context, name string) (*Difference, reminders.Subject, error) {
	none := reminders.Subject{}
	s, err := r.Schedules.Find(ctx, name)
	if errors.Is(err, schedule.ErrNotFound) {
		return nil, none, nil
	}
	if err != nil {
		return nil, none, err
	}
	d := Difference{Kind: Schedule, Key: name, Is: showSchedule(r.Registry, s), ShouldBe: "no schedule"}
	subject, ok := r.subjectOf(s)
	switch {
	case !ok && r.o.User == "":
		return &d, none, nil
	case !ok || r.o.User != "" && r.o.User != subject.User:
		return nil, none, nil
	}
	switch state, err := r.stateOf(ctx, subject.User); {
	case err != nil:
		return nil, none, err
	case state == account.Erased:
		d.Kind, d.ShouldBe = Erased, "no schedule: the account is erased"
		return &d, none, nil
	case state != account.Present:
		return nil, none, nil
	}
	d.User, d.offset = subject.User, subject.OffsetMinutes
	if name == subject.FormerName() {
		d.ShouldBe = "the name " + subject.Name()
		return &d, subject, nil
	}
	if late := r.Now().Sub(s.At); late >= 0 && late < callTime {
		return nil, none, nil // its delivery is under way
	}
	wanted, undelivered, err := r.Reminders.Wanted(ctx, subject.User, subject.Type, subject.ID)
	if err != nil {
		if port.IsOutage(err) {
			return nil, none, err
		}
		return nil, none, nil // the check of the item itself reports it
	}
	// The check of its item shows whether it is right, or was to be delivered.
	isWanted := slices.ContainsFunc(wanted, func(w schedule.Schedule) bool { return w.Name == name })
	isLate := slices.ContainsFunc(undelivered, func(u reminders.Subject) bool {
		return u.Name() == name && u.Due.Equal(subject.Due)
	})
	if isWanted || isLate {
		return nil, none, nil
	}
	return &d, subject, nil
}

// unreadable handles a schedule with an unreadable payload, or under another subject's name. If an item requires that
// name, the check of the item puts it again.
func (r *run) unreadable(ctx context.Context, d Difference) error {
	if err := r.found(d); err != nil || !r.repairing {
		return err
	}
	return r.forgive(ctx, d.User, d.Key, r.Reminders.Unschedule(ctx, d.Key))
}

// resume completes a walk.
func (r *run) resume(ctx context.Context, row item.Item) error {
	var err error
	for range maxResumes {
		if err = r.Reminders.Resume(ctx, row); !errors.Is(err, reminders.ErrUnfinished) {
			return err
		}
	}
	return err
}

// copies finds objects that no row names.
func (r *run) copies(ctx context.Context, user string) error {
	if r.Archive.Copies == nil {
		return nil
	}
	after := ""
	for {
		names, err := r.Archive.Copies.List(ctx, archive.CopiesPrefix(user), blob.MaxList, after)
		if err != nil {
			return fmt.Errorf("list cold copies: %w", err)
		}
		if err := r.unnamed(ctx, user, names); err != nil {
			return err
		}
		if len(names) < blob.MaxList {
			return nil
		}
		after = names[len(names)-1]
	}
}

// unnamed checks a page of objects. After a pause it checks again those that no row seems to name: a copy is written
// before the row that names it.
func (r *run) unnamed(ctx context.Context, user string, names []string) error {
	for look := range 2 {
		var open []string
		for _, name := range names {
			id, version, ok := archive.ReadCopyName(user, name)
			t := r.Registry.ByID(id)
			if !ok || !isID(t, id) {
				continue // not a cold copy
			}
			isUnnamed, err := r.Archive.Unnamed(ctx, user, t, id, version)
			if err != nil && !errors.Is(err, entity.ErrNewerForm) { // another check names such a row
				return err
			}
			if err == nil && isUnnamed {
				open = append(open, name)
			}
		}
		if names = open; len(names) == 0 || look == 1 {
			break
		}
		if err := r.Wait(ctx, r.Grace); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := r.found(Difference{
			Kind: Archive, User: user, Key: name, Is: "a copy that no row names", ShouldBe: "no object",
		}); err != nil {
			return err
		}
		if id, version, _ := archive.ReadCopyName(user, name); r.repairing {
			if err := r.forgive(ctx, user, name, r.Archive.DropUnnamed(ctx, user, id, version)); err != nil {
				return err
			}
		}
	}
	return nil
}
