package entity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/register"
)

// Prefixes of the sort keys of rows that are no entities and belong to consumers and commands. The prefix of an
// entity's row is its type's name. Package device has those of the rows for devices.
const (
	RowLink    = "LINK"
	RowLedger  = "LEDGER"
	RowTimer   = "TIMER"
	RowFired   = "FIRED"
	RowCold    = "COLD"
	RowGone    = "GONE"
	RowReceipt = "RECEIPT"
	RowSum     = "SUM"
	RowZone    = "ZONE"
	RowSeries  = "SERIES"
	RowFeed    = "FEED"
	RowKept    = "KEPT"
)

const (
	separator    = "#"
	userPrefix   = "USER"
	linkedPrefix = "LINKED"
	timerArchive = "ARCHIVE"
	openPrefix   = "OPEN"
)

// join builds a key. A component that contains the separator would name another row or partition. Clients' input is
// checked before ([CheckUserID], [CheckID]), so such a component is a programmer's mistake.
func join(components ...string) string {
	for _, c := range components {
		if c == "" || strings.Contains(c, separator) {
			panic(fmt.Sprintf("entity: key component %q is empty or contains %q", c, separator))
		}
	}
	if len(components) == 2 {
		return components[0] + separator + components[1] // most keys, in half the time
	}
	return strings.Join(components, separator)
}

// UserPK is the partition of everything that belongs to one user.
func UserPK(user string) string { return join(userPrefix, user) }

// UserPrefix begins the partitions that an index has for the user in addition to [UserPK].
func UserPrefix(user string) string { return UserPK(user) + separator }

// ParseUserPK returns the user whose partition it is.
func ParseUserPK(pk string) (user string, err error) {
	prefix, user, ok := strings.Cut(pk, separator)
	if !ok || prefix != userPrefix {
		return "", fmt.Errorf("partition key %q: want %s#<user>", pk, userPrefix)
	}
	if err := CheckUserID(user); err != nil {
		return "", fmt.Errorf("partition key %q: %w", pk, err)
	}
	return user, nil
}

// Ref names one entity of a user by its type and id.
type Ref struct{ Type, ID string }

func (r Ref) String() string { return r.Type + separator + r.ID }

// ItemKey returns the key of an entity. USER_META, of which a user has one, has the user's id as its own.
func ItemKey(user string, ref Ref) item.Key {
	if ref.Type == TypeInstance {
		date, suffix := splitInstanceID(ref.ID)
		return item.Key{PK: UserPK(user), SK: join(TypeInstance, MasterIDPrefix+"_"+suffix, date)}
	}
	return item.Key{PK: UserPK(user), SK: join(ref.Type, ref.ID)}
}

// ItemPrefix begins the sort keys of all entities of one type.
func ItemPrefix(typeName string) string { return join(typeName) + separator }

// InstancePrefix begins the sort keys of all instances of a series.
func InstancePrefix(masterID string) string { return join(TypeInstance, masterID) + separator }

// MetaKey is the key of a user's USER_META.
func MetaKey(user string) item.Key { return ItemKey(user, Ref{TypeUserMeta, user}) }

// LinkKey is the key of the edge from one entity to another.
func LinkKey(user string, source, target Ref) item.Key {
	return item.Key{PK: UserPK(user), SK: join(RowLink, source.Type, source.ID, target.Type, target.ID)}
}

// LinkPrefix begins the sort keys of all edges that leave the source.
func LinkPrefix(source Ref) string { return join(RowLink, source.Type, source.ID) + separator }

// LedgerKey returns the key of the row that records what a projection last applied of an item.
func LedgerKey(user, projection, itemID string) item.Key {
	return item.Key{PK: UserPK(user), SK: join(RowLedger, projection, itemID)}
}

// LedgerPrefix begins the sort keys of all ledger rows of a projection.
func LedgerPrefix(projection string) string { return join(RowLedger, projection) + separator }

// TimerKey is the key of the row whose removal by TTL archives a task that was completed at this version.
func TimerKey(user, taskID string, version int64) item.Key {
	return item.Key{PK: UserPK(user), SK: join(RowTimer, timerArchive, taskID, strconv.FormatInt(version, 10))}
}

// TimerPrefix begins the sort keys of all timers; the task's id follows it.
func TimerPrefix() string { return join(RowTimer, timerArchive) + separator }

// LinksPrefix begins the sort keys of all edges that leave items of a type; the source's id follows it.
func LinksPrefix(typeName string) string { return join(RowLink, typeName) + separator }

// Under begins the sort keys with this component after the prefix. If the component is an item's id, these are all
// rows of the item under the prefix.
func Under(prefix, component string) string { return prefix + join(component) + separator }

// DeliveryKey is the key of the row of one delivery of a reminder: the item, its offset in minutes, the
// occurrence it announces, and the instant it was due.
func DeliveryKey(user, itemID string, offsetMinutes int64, occurrence, due time.Time) item.Key {
	offset := strconv.FormatInt(offsetMinutes, 10)
	return item.Key{
		PK: UserPK(user), SK: join(RowFired, itemID, offset, item.FormatInstant(occurrence), item.FormatInstant(due)),
	}
}

// DeliveryPrefix begins the sort keys of all deliveries of an item.
func DeliveryPrefix(itemID string) string { return join(RowFired, itemID) + separator }

// ColdKey is the key of the row that names an item's cold copy.
func ColdKey(user, itemID string) item.Key {
	return item.Key{PK: UserPK(user), SK: join(RowCold, itemID)}
}

// ColdPrefix begins the sort keys of all rows that name cold copies.
func ColdPrefix() string { return RowCold + separator }

// GonePrefix begins the sort keys of the rows of all deleted items.
func GonePrefix() string { return RowGone + separator }

// GoneKey returns the key of the row that prevents a deleted item's id from being used again.
func GoneKey(user, itemID string) item.Key {
	return item.Key{PK: UserPK(user), SK: join(RowGone, itemID)}
}

// ReceiptPrefix begins the sort keys of receipts.
func ReceiptPrefix() string { return RowReceipt + separator }

// ReceiptKey is the key of the row that remembers an idempotent request by a hash of its key.
func ReceiptKey(user, hash string) item.Key {
	return item.Key{PK: UserPK(user), SK: join(RowReceipt, hash)}
}

// SumKey returns the key of the target row of a summing projection that has no better place.
func SumKey(user, projection string) item.Key {
	return item.Key{PK: UserPK(user), SK: join(RowSum, projection)}
}

// ZoneKey is the key of the cursor with which a change of time zone walks the user's items; version is USER_META's.
func ZoneKey(user string, version int64) item.Key {
	return item.Key{PK: UserPK(user), SK: join(RowZone, strconv.FormatInt(version, 10))}
}

// SeriesKey is the key of the cursor with which a change of a series walks its exceptions; version is the MASTER's.
func SeriesKey(user, masterID string, version int64) item.Key {
	return item.Key{PK: UserPK(user), SK: join(RowSeries, masterID, strconv.FormatInt(version, 10))}
}

// FeedKey returns the key of the row with a user's secret calendar address.
func FeedKey(user string) item.Key { return item.Key{PK: UserPK(user), SK: join(RowFeed, user)} }

// KeptKey returns the key of the row that preserves properties of an imported item that no field holds. The row is in
// no index: the indexes that carry whole items would store it three times more. It is written and deleted with its
// item.
func KeptKey(of item.Key) item.Key { return item.Key{PK: of.PK, SK: KeptPrefix() + of.SK} }

// ParseKept returns the item of a [KeptKey], by its sort key; types are as for [ParseSortKey].
func ParseKept(sk string, types ...*Type) (Ref, error) {
	key, err := ParseSortKey(sk, types...)
	if err != nil {
		return Ref{}, err
	}
	if key.Prefix != RowKept {
		return Ref{}, fmt.Errorf("sort key %q: want %s before the sort key of an item", sk, RowKept)
	}
	return SortKey{Prefix: key.Components[0], Components: key.Components[1:]}.Ref(), nil
}

// KeptPrefix begins the sort keys of all such rows; the sort key of the item follows it.
func KeptPrefix() string { return RowKept + separator }

// AgendaPK is the GSI1 partition of everything a user has in a year.
func AgendaPK(user string, year int) string { return join(userPrefix, user, fmt.Sprintf("%04d", year)) }

// StatePrefix begins the state-view sort keys of a user's entities of a type in one state: TYPE#STATE#.
func StatePrefix(typeName, state string) string { return join(typeName, state) + separator }

// LinkedPK is the GSI4 partition of the user's edges that lead to the target.
func LinkedPK(user string, target Ref) string {
	return join(linkedPrefix, user, target.Type, target.ID)
}

// LinkedPrefix begins the GSI4 partitions of all of the user's edges.
func LinkedPrefix(user string) string { return join(linkedPrefix, user) + separator }

// LinkedSK is the GSI4 sort key of the edges that leave the source.
func LinkedSK(source Ref) string { return join(source.Type, source.ID) }

// ParseLinkedSK is the inverse of [LinkedSK].
func ParseLinkedSK(sk string) (source Ref, err error) {
	parts := strings.Split(sk, separator)
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
		return Ref{}, fmt.Errorf("sort key %q of an edge: want a type and an id", sk)
	}
	return Ref{parts[0], parts[1]}, nil
}

// RecurrencePK is the partition of a series in the index of recurrence.
func RecurrencePK(masterID string) string { return join(TypeMaster, masterID) }

// RecurrenceSK is the sort key there: of the exception on a date YYYYMMDD, or of the series itself if date is empty.
func RecurrenceSK(date string) string {
	if date == "" {
		return TypeMaster
	}
	return join(TypeInstance, date)
}

// OpenPrefix begins the state-view sort keys of the statistics ledger rows of items that the clock moves: future
// events and open tasks. Floating ones have keys of their own, at their wall-clock reading.
func OpenPrefix(typeName string, floating bool) string {
	clock := "Z"
	if floating {
		clock = "F"
	}
	return join(openPrefix, typeName, clock) + separator
}

// OpenSK is the state-view sort key of such a row: the start of an event, the due time of a task.
func OpenSK(typeName string, floating bool, at time.Time) string {
	return OpenPrefix(typeName, floating) + item.FormatInstant(at)
}

// SortKey is a parsed SK: the prefix (an entity type or one of the Row constants) and the components after it.
type SortKey struct {
	Prefix     string
	Components []string
}

func (k SortKey) String() string { return join(append([]string{k.Prefix}, k.Components...)...) }

// ParseSortKey is the inverse of [SortKey.String] for every sort key that this package builds. It refuses a prefix that
// is neither in the register (package register) nor the name of one of the types, which are those of another product.
func ParseSortKey(sk string, types ...*Type) (SortKey, error) {
	parts := strings.Split(sk, separator)
	key := SortKey{Prefix: parts[0], Components: parts[1:]}
	if key.Prefix == RowKept {
		item, err := ParseSortKey(strings.Join(key.Components, separator), types...)
		if err != nil || item.IsRow() {
			return SortKey{}, fmt.Errorf("sort key %q: want the sort key of an item behind %s", sk, RowKept)
		}
		return key, nil
	}
	want := 1
	if n, isRow := register.Components(key.Prefix); isRow {
		want = n
	} else if key.Prefix == TypeInstance {
		want = 2 // the series and the date
	} else if !register.IsEntity(key.Prefix) && !slices.ContainsFunc(types, func(t *Type) bool {
		return t.Name == key.Prefix
	}) {
		return SortKey{}, fmt.Errorf("sort key %q: neither a row of the register nor of an entity type", sk)
	}
	if len(key.Components) != want {
		return SortKey{},
			fmt.Errorf("sort key %q: %d components behind %s, want %d", sk, len(key.Components), key.Prefix, want)
	}
	for _, c := range parts {
		if c == "" {
			return SortKey{}, fmt.Errorf("sort key %q: empty component", sk)
		}
	}
	if key.Prefix == TypeInstance && (CheckID(MasterIDPrefix, parts[1]) != nil || !IsCompactDate(parts[2])) {
		return SortKey{}, fmt.Errorf("sort key %q: want a series' id and a date YYYYMMDD", sk)
	}
	return key, nil
}

// IsRow reports whether the key belongs to a row of consumers or commands, not to an entity.
func (k SortKey) IsRow() bool { _, ok := register.Components(k.Prefix); return ok }

// Ref returns the entity that a sort key names, if it is no row.
func (k SortKey) Ref() Ref {
	if k.Prefix == TypeInstance {
		return Ref{k.Prefix, InstanceID(k.Components[0], k.Components[1])}
	}
	return Ref{k.Prefix, k.Components[0]}
}

// Timer is the parsed key of a TIMER row.
type Timer struct {
	TaskID  string
	Version int64
}

// ParseTimer reads the sort key of a timer row.
func ParseTimer(sk string) (Timer, error) {
	key, err := ParseSortKey(sk)
	if err != nil {
		return Timer{}, err
	}
	if key.Prefix != RowTimer || key.Components[0] != timerArchive {
		return Timer{}, fmt.Errorf("sort key %q: not an archive timer", sk)
	}
	version, err := strconv.ParseInt(key.Components[2], 10, 64)
	if err != nil || version < 1 {
		return Timer{}, fmt.Errorf("sort key %q: version %q is no positive number", sk, key.Components[2])
	}
	return Timer{key.Components[1], version}, nil
}

// ParseLink reads the sort key of an edge.
func ParseLink(sk string) (source, target Ref, err error) {
	key, err := ParseSortKey(sk)
	if err != nil {
		return Ref{}, Ref{}, err
	}
	if key.Prefix != RowLink {
		return Ref{}, Ref{}, fmt.Errorf("sort key %q: not a link", sk)
	}
	c := key.Components
	return Ref{c[0], c[1]}, Ref{c[2], c[3]}, nil
}
