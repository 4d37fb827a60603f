package local

import "nexus/pkg/schedule"

// The transitions of a schedule's files. Each is called under the scheduler's lock, before the entry itself changes,
// and returns when the files are durable. An entry whose transition failed is unsaved: its files are restored before
// the next one. If a crash interrupts a transition, mend resolves the remaining files.

// replace puts the schedule in the place of the old entry, if there was one. It writes the new file first, so that a
// crash never leaves less than before; a call that has begun keeps its file.
func (d *disk) replace(old *entry, in schedule.Schedule) error {
	return d.transition(old, func() error {
		if err := d.save(in, pendingSlot); err != nil {
			return err
		}
		if err := d.part(old); err != nil {
			return err
		}
		return d.sync()
	})
}

// delete removes the old entry, if there was one, except a call that has begun.
func (d *disk) delete(old *entry, name string) error {
	return d.transition(old, func() error {
		// A put that failed may have left a file without an entry.
		dropped, err := d.drop(name, pendingSlot)
		if err != nil || !dropped && old == nil {
			return err
		}
		if err := d.part(old); err != nil {
			return err
		}
		return d.sync()
	})
}

// part separates the files of the old entry's call from its schedule, except a pending file.
func (d *disk) part(old *entry) error {
	switch {
	case old == nil || old.State == Pending:
		return nil
	case old.State == Called:
		return d.move(old.Name, calledSlot, formerSlot(old.number))
	}
	_, err := d.drop(old.Name, completedSlot)
	return err
}

// begin marks that the entry's call is about to be made.
func (d *disk) begin(e *entry) error {
	return d.transition(e, func() error {
		if err := d.move(e.Name, pendingSlot, calledSlot); err != nil {
			return err
		}
		return d.sync()
	})
}

// complete marks that the entry's call succeeded; a former one is gone with that.
func (d *disk) complete(e *entry) error {
	return d.transition(e, func() error {
		var err error
		if e.Former {
			_, err = d.drop(e.Name, e.slot())
		} else {
			err = d.move(e.Name, calledSlot, completedSlot)
		}
		if err != nil {
			return err
		}
		return d.sync()
	})
}

// transition changes the files of an entry, after restoring them if necessary.
func (d *disk) transition(e *entry, change func() error) error {
	if d == nil {
		return nil
	}
	if e == nil {
		return change()
	}
	if e.unsaved {
		if err := d.restore(e); err != nil {
			return err
		}
	}
	err := change()
	e.unsaved = err != nil
	return err
}

// restore writes the files according to the entry.
func (d *disk) restore(e *entry) error {
	if err := d.save(e.Schedule, e.slot()); err != nil {
		return err
	}
	if e.Former {
		return d.sync() // the other slots belong to the schedule that replaced it
	}
	var others []slot
	for _, at := range []slot{pendingSlot, calledSlot, completedSlot, formerSlot(e.number)} {
		if at != e.slot() {
			others = append(others, at)
		}
	}
	if _, err := d.drop(e.Name, others...); err != nil {
		return err
	}
	return d.sync()
}
