package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"nexus/pkg/account"
	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
)

// eraseBroughtBack erases again, before anything works on the table, whom an older copy of it has brought back. It
// fails with [account.ErrTooOld] if nothing can do that any more, and with what keeps it from doing so.
func (p *Platform) eraseBroughtBack(ctx context.Context) error {
	needs, err := p.system.Eraser.NeedsAgain(ctx, p.wasSetBack)
	if err != nil {
		return fmt.Errorf("compare the table with the list of erased accounts: %w", err)
	}
	if !needs && !p.options.EraseAgain {
		return p.maskErased(ctx)
	}
	again, err := p.again(ctx)
	if err != nil {
		return fmt.Errorf("erase again whom an older copy of the table has brought back: %w", err)
	}
	p.atStart = &again
	if again.Erased > 0 {
		p.log.Warn("the table was set back: accounts that it brought back were erased again", "accounts", again.Erased)
	}
	old := again.Check()
	if len(again.TooOld) > 0 && !p.options.Despite {
		return fmt.Errorf("%w. Put a younger copy back. If its users are known: nexus erase --data DIR --user USER --now "+
			"erases each", old)
	}
	if old != nil && needs {
		p.log.Error("nothing vouches for the table", "error", old)
	}
	return nil
}

// again erases again, by the lists. A table that is not known to have the present form is repaired once its accounts
// have their rows.
func (p *Platform) again(ctx context.Context) (account.Again, error) {
	p.erasures.Lock() // one at a time
	defer p.erasures.Unlock()
	again, err := p.system.Eraser.Again(ctx, p.backend.walker)
	if errors.Is(err, account.ErrForm) {
		first := again
		if err := p.repair(ctx); err != nil {
			return again, err
		}
		again, err = p.system.Eraser.Again(ctx, p.backend.walker)
		again.Erased, again.Put = again.Erased+first.Erased, again.Put+first.Put
		again.Undone, again.Accounts = again.Undone+first.Undone, append(first.Accounts, again.Accounts...)
	}
	return again, errors.Join(err, p.maskErased(ctx))
}

// postAgain answers what erasing again has done. The first answer is that of the start, if it has done so.
func (p *Platform) postAgain(w http.ResponseWriter, r *http.Request) error {
	p.erasures.Lock()
	again := p.atStart
	p.atStart = nil
	p.erasures.Unlock()
	if again == nil {
		now, err := p.again(r.Context())
		if err != nil {
			return err
		}
		again = &now
	}
	return answer(w, again)
}

// maskErased takes what erased users wrote, and their ids, out of the stream, which ends no record by itself. It may be
// repeated: a start does what a crash has left.
func (p *Platform) maskErased(ctx context.Context) error {
	if p.backend.mask == nil {
		return nil
	}
	erased, err := p.system.Eraser.ErasedNames(ctx)
	if err != nil || len(erased) == 0 {
		return err
	}
	masked, err := p.backend.mask(ctx, func(partition string) (item.Key, bool) {
		name, isAccount := departure.Name(item.Key{PK: partition, SK: departure.StateKey("any").SK})
		if user, isUsers := account.OwnerOf(partition); isUsers {
			name, isAccount = p.pepper.Erasure(user), true
		}
		if !isAccount || !erased[name] {
			return item.Key{}, false
		}
		return departure.RecordKey(name), true
	})
	if masked > 0 {
		p.stream.Forget()
	}
	return err
}
