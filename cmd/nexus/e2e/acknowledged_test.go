package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// acknowledged holds what the system has acknowledged to clients about every entity. It is safe for concurrent use.
type acknowledged struct {
	writes atomic.Int64 // all of them
	// replayed requests were carried out before and lost their answer, stale ones met another client's write, unanswered
	// ones met neither.
	replayed, stale, unanswered atomic.Int64

	mu       sync.Mutex
	entities map[string]*known // by user and id
	order    map[string][]*known
	wrong    []string
	// latest ever, by user
	eventCreated, taskCompleted map[string]string
}

// known holds the state of one entity as clients know it.
type known struct {
	user, kind, id string
	owner          int            // the client that alone changes its links and deletes it
	writes         int64          // acknowledged, the create included
	version        int64          // the highest that anybody was shown
	entity         map[string]any // at that version
	deleting       bool           // its owner has begun to delete it
	deleted        bool
	// exceptions of a series, by date: what the owner was last shown of each occurrence that differs. The owner alone
	// makes them, and alone changes which dates there are.
	exceptions map[string]row
}

func newAcknowledged() *acknowledged {
	return &acknowledged{
		entities: map[string]*known{}, order: map[string][]*known{},
		eventCreated: map[string]string{}, taskCompleted: map[string]string{},
	}
}

func (a *acknowledged) complain(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

// created notes a create that was acknowledged with the entity.
func (a *acknowledged) created(user, kind string, owner int, entity map[string]any) {
	id := fmt.Sprint(entity[idAttribute[kind]])
	a.mu.Lock()
	k := a.entities[user+"/"+id]
	if k == nil {
		k = &known{user: user, kind: kind, id: id, owner: owner}
		a.entities[user+"/"+id] = k
		a.order[user] = append(a.order[user], k)
	} else {
		a.wrong = append(a.wrong, "two creates were acknowledged with "+id)
	}
	a.mu.Unlock()
	a.changed(k, entity)
}

// changed notes a write that was acknowledged with the entity as it was then.
func (a *acknowledged) changed(k *known, entity map[string]any) {
	version, err := wholeNumber(entity, "version")
	delete(entity, "hasExceptions") // is bookkeeping: it changes and the version does not
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writes.Add(1)
	k.writes++
	if err != nil {
		a.wrong = append(a.wrong, fmt.Sprintf("%s: %v", k.id, err))
		return
	}
	if version == k.version && text(entity) != text(k.entity) {
		a.wrong = append(a.wrong,
			fmt.Sprintf("%s has two contents at version %d: %s and %s", k.id, version, text(k.entity), text(entity)))
	}
	if version > k.version {
		k.version, k.entity = version, entity
	}
	if at := fmt.Sprint(entity["createdAt"]); (k.kind == "EVENT" || k.kind == "MASTER") && at > a.eventCreated[k.user] {
		a.eventCreated[k.user] = at
	}
	if at, ok := entity["completedAt"].(string); ok && k.kind == "TASK" && at > a.taskCompleted[k.user] {
		a.taskCompleted[k.user] = at
	}
}

// gone notes a delete that was acknowledged.
func (a *acknowledged) gone(k *known) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writes.Add(1)
	k.deleted = true
}

// version returns the latest version known and the links at it.
func (a *acknowledged) present(k *known) (version int64, links []any, gone bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	links, _ = k.entity["links"].([]any)
	return k.version, links, k.deleting
}

// among picks the n-th of the user's entities that satisfy the condition, counted around; nil if there is none.
func (a *acknowledged) among(user string, n int, condition func(*known) bool) *known {
	a.mu.Lock()
	defer a.mu.Unlock()
	var fitting []*known
	for _, k := range a.order[user] {
		if !k.deleting && condition(k) {
			fitting = append(fitting, k)
		}
	}
	if len(fitting) == 0 {
		return nil
	}
	return fitting[n%len(fitting)]
}

// claim marks an entity as about to be deleted, so that no client begins to change it.
func (a *acknowledged) claim(k *known) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k.deleting = true
}

// bookkeeping are the attributes that clients are not shown.
var bookkeeping = []string{"PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK", "ttl", "dueSetAt",
	"exceptionsVersion", "hasExceptions", "completedOnAt"}

// compare compares the table with the acknowledged writes, and returns what differs: a write lost, applied
// twice, or applied without a request.
func (a *acknowledged) compare(rows []row) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	differences := slices.Clone(a.wrong)
	stored, gone := map[string]row{}, map[string]bool{}
	for _, r := range rows {
		switch {
		case totalOf[r.kind()] != "":
			stored[r.user()+"/"+r.id()] = r
			if a.entities[r.user()+"/"+r.id()] == nil {
				differences = append(differences, r.key()+" was never acknowledged")
			}
		case r.kind() == "GONE":
			gone[r.user()+"/"+r.id()] = true
		}
	}
	for name, k := range a.entities {
		r := stored[name]
		switch {
		case k.deleted && (r != nil || !gone[name]):
			differences = append(differences, fmt.Sprintf("%s was deleted: row %t, mark %t", name, r != nil, gone[name]))
		case k.deleted:
		case r == nil:
			differences = append(differences, name+" was acknowledged and is lost")
		case k.version != k.writes || text(r["version"]) != fmt.Sprint(k.writes):
			differences = append(differences,
				fmt.Sprintf("%s: %d writes acknowledged, version %d shown, %v stored", name, k.writes, k.version, r["version"]))
		default:
			differences = append(differences, k.contentDiffers(r)...)
		}
	}
	return append(differences, a.compareExceptions(rows)...)
}

// contentDiffers compares what clients were shown last with what is stored.
func (k *known) contentDiffers(r row) []string {
	shown := row{}
	for name, v := range r {
		if !slices.Contains(bookkeeping, name) {
			shown[name] = v
		}
	}
	// A floating time is shown without its offset; the others are stored as they are shown.
	for name, zone := range map[string]string{
		"startUtc": "startTzid", "endUtc": "startTzid", "dueUtc": "dueTzid", "triggerUtc": "tzid", "firstTriggerUtc": "tzid",
		"rruleUntil": "startTzid", "lastStartUtc": "startTzid",
	} {
		at, ok := shown[name].(string)
		if name == "startUtc" && k.kind == "TASK" {
			zone = "dueTzid"
		}
		if ok && shown[zone] == nil && at != "" {
			shown[name] = at[:len(at)-1]
		}
	}
	if text(shown) == text(k.entity) {
		return nil
	}
	return []string{fmt.Sprintf("%s: acknowledged %s, stored %s", k.id, text(k.entity), text(shown))}
}

// text is a value in one form for comparing: JSON sorts members by name.
func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}
