package simulate

import (
	"encoding/json"
	"strings"

	"nexus/pkg/account"
	"nexus/pkg/blob"
	"nexus/pkg/bus"
	"nexus/pkg/register"
	"nexus/pkg/system"
)

// fenced gives ports the fence of accounts, where a user leaves.
func (h *history) fenced(p system.Ports) system.Ports {
	if h.leaver != nil {
		p.Pepper, p.Memory = h.leaver.pepper, account.Memory
	}
	return p
}

// withAccounts gives ports what accounts leave by, too.
func (h *history) withAccounts(p system.Ports) system.Ports {
	if h.leaver != nil {
		p.Erasing = &system.Erasing{
			Archive: blobPort{h, h.copies}, Parking: blobPort{h, h.parking}, Snapshots: indexPort{h.finder.objects, h},
			Bus: h.bus, Wait: h.waitErasing,
			Patience: account.Patience, EdgeTime: account.EdgeTime, Rate: account.Rate,
		}
	}
	return h.fenced(p)
}

// takeOfAccount takes in a write where a user leaves. It reports whether the row is of a user who is gone, whose rows
// are judged by nothing else.
func (h *history) takeOfAccount(r *record) bool {
	h.checkErasure(r)
	user := r.user
	if user != h.leaver.user {
		return false
	}
	if h.isGone(user) {
		h.takeRowOfLeaver(r)
		return true
	}
	h.checkRefused(r)
	return false
}

// publishedOfAccount checks an event about a user who is gone, and reports whether it is one.
func (h *history) publishedOfAccount(e bus.Event) bool {
	if h.leaver == nil {
		return false
	}
	l := h.leaver
	var detail struct{ UserID string }
	if err := json.Unmarshal(e.Detail, &detail); err != nil || detail.UserID != l.user {
		return false
	}
	isEnd := e.Type == account.UserErased
	switch {
	case isEnd && l.state == account.Erasing:
		l.isTold = true
	case isEnd && l.isTold: // by a worker that another one has overtaken
	case isEnd, !l.erased.IsZero():
		h.violate("E1", l.user, e.Type, "is published, and the account is %q: %s", l.state, e.Detail)
	}
	return isEnd || h.isGone(l.user)
}

// checkTaken checks that an erasure takes something away of the user alone (E3).
func (h *history) checkTaken(owner, name string) {
	if owner != "" && owner != h.leaver.user {
		h.violate("E3", owner, name, "is removed by the erasure of %s", h.leaver.user)
	}
}

// checkSchedulePut checks that nothing sets a schedule of a user whom the erasure has begun to remove (E1).
func (h *history) checkSchedulePut(name string) {
	l := h.leaver
	if l == nil || !strings.HasPrefix(name, h.schedulesOfLeaver()) || l.isBack || !l.isPassing && l.erased.IsZero() {
		return
	}
	h.violate("E1", l.user, name, "is set by %s, and the account is %s", h.current.name, l.state)
}

// schedulesOfLeaver returns the prefix that the names of the leaver's schedules have.
func (h *history) schedulesOfLeaver() string {
	own := h.scheduleName(h.leaver.user, "x", 0)
	return own[:strings.LastIndex(own, "-")+1]
}

// objectsIn returns the objects whose names begin with a text, where an erasure is to remove them.
func (h *history) objectsIn(in blob.Store, prefix string) map[string]string {
	names, err := in.List(noContext, prefix, blobPage, "")
	found := map[string]string{}
	for _, name := range names {
		var body []byte
		if body, err = in.Get(noContext, name); err == nil {
			found[name] = string(body)
		}
	}
	if err != nil {
		h.violate("port", "", prefix, "%v", err)
	}
	return found
}

// checkPurged checks what a purge has removed: objects in folders of the user, and those that name the user alone (E3).
func (h *history) checkPurged(in blob.Store, before map[string]string) {
	for name, body := range before {
		if _, err := in.Get(noContext, name); err == nil {
			continue
		}
		owner, isOwned := register.OwnerOf(name)
		switch {
		case isOwned:
			h.checkTaken(owner, name)
		case name == account.LeavingPrefix+h.leaver.name:
		case !names(body, h.leaver.user):
			h.violate("E3", "", name, "is removed by the erasure of %s, whom it does not name: %.300s", h.leaver.user, body)
		}
	}
}
