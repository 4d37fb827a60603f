package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/archive"
	"nexus/pkg/blob"
	"nexus/pkg/bus"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// The attributes of consumers' rows that the state shows (docs/data-model.md: LEDGER, SUM, FIRED and MSG).
const (
	attrContribution  = "c"
	attrSum           = "sum"
	attrDeliveryState = "state"
	attrMessageType   = "type"
)

// View names the sources of derived state.
type View struct {
	Walker    table.Walker
	Schedules []schedule.Schedule // those that wait for their call
	Events    []bus.Event
	Objects   []blob.Store // cold copies and parked objects
	// Users limits the view; nil means all users. Parked objects belong to all users.
	Users map[string]bool
	// Item limits it to what names this item; "" means all items. Statistics and sums name none.
	Item string
	// Types are the types of the items, as far as they are another product's.
	Types []*entity.Type
}

// State is the derived data, each kind as sorted lines that two systems share exactly if they derived the same. It
// leaves out what depends on the way there, such as the number of a ledger row's last write, or what became of a
// message, and rows that no longer have an effect.
type State struct {
	Stats      []string `json:"stats"`
	Sums       []string `json:"sums"` // own sums of projections
	Ledger     []string `json:"ledger"`
	Links      []string `json:"links"`
	Timers     []string `json:"timers"`
	Cold       []string `json:"cold"`
	Expiring   []string `json:"expiring"`
	Deliveries []string `json:"deliveries"`
	Messages   []string `json:"messages"` // to webhooks
	Schedules  []string `json:"schedules"`
	Events     []string `json:"events"`
	Objects    []string `json:"objects"`
}

// View returns the system's own.
func (s *System) View() View {
	return View{
		Types:  s.registry.Types(),
		Walker: s.Store, Schedules: s.scheduler.Waiting(), Events: s.events.Events(),
		Objects: []blob.Store{s.Copies, s.Parking},
	}
}

// State reads the derived data.
func (v View) State(ctx context.Context) (State, error) {
	var out State
	err := v.Walker.Walk(ctx, 0, 1, func(row item.Item) error { return v.row(&out, row) })
	if err != nil {
		return out, fmt.Errorf("read derived rows: %w", err)
	}
	for _, one := range v.Schedules {
		line := fmt.Sprintf("%s %s", item.FormatInstant(one.At), one.Payload)
		if v.has(userIn(one.Payload)) && strings.HasPrefix(one.Name, reminders.SchedulePrefix) {
			out.Schedules = append(out.Schedules, line)
		}
	}
	for _, e := range v.Events {
		if v.has(userIn(e.Detail)) {
			out.Events = append(out.Events, fmt.Sprintf("%s %s", e.Type, e.Detail))
		}
	}
	for _, objects := range v.Objects {
		if err := v.objects(ctx, &out, objects); err != nil {
			return out, err
		}
	}
	for _, kind := range out.kinds() {
		*kind.lines = slices.DeleteFunc(*kind.lines, func(line string) bool { return !v.names(line) })
		slices.Sort(*kind.lines)
		*kind.lines = slices.Compact(*kind.lines) // an event is published at least once
	}
	return out, nil
}

func (v View) has(user string) bool { return v.Users == nil || v.Users[user] }

// names reports whether the line names the view's item; an id may begin another one.
func (v View) names(line string) bool {
	if v.Item == "" {
		return true
	}
	for {
		_, rest, found := strings.Cut(line, v.Item)
		if !found {
			return false
		}
		if rest == "" || !isOfID(rest[0]) {
			return true
		}
		line = rest
	}
}

func isOfID(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func userIn(document []byte) string {
	var said struct {
		UserID string `json:"userId"`
		User   string `json:"user"`
	}
	if json.Unmarshal(document, &said) != nil {
		return ""
	}
	return said.UserID + said.User
}

// owner returns the user of a row's partition. Other partitions hold the versioned repositories, which derive nothing.
func owner(row item.Item) (user string, ok bool) {
	user, err := entity.ParseUserPK(row.Str(item.AttrPK))
	return user, err == nil
}

// row adds the content of a row.
func (v View) row(out *State, row item.Item) error {
	user, ok := owner(row)
	if !ok || !v.has(user) {
		return nil
	}
	sk, err := entity.ParseSortKey(row.Str(item.AttrSK), v.Types...)
	if err != nil {
		return err
	}
	where := user + " " + strings.Join(sk.Components, " ")
	switch sk.Prefix {
	case entity.TypeUserMeta:
		if sum := showSum(row.Map(product.AttrStats)); sum != "" {
			out.Stats = append(out.Stats, user+sum)
		}
	case entity.RowSum:
		if sum := showSum(row.Map(attrSum)); sum != "" {
			out.Sums = append(out.Sums, where+sum)
		}
	case entity.RowLedger:
		if c := row.Str(attrContribution); c != "" {
			out.Ledger = append(out.Ledger, where+" "+c)
		}
	case entity.RowLink:
		out.Links = append(out.Links, where)
	case entity.RowTimer:
		out.Timers = append(out.Timers, where+until(row))
	case entity.RowCold:
		out.Cold = append(out.Cold, fmt.Sprintf("%s version %d", where, row.Int(entity.AttrVersion)))
	case entity.RowFired:
		out.Deliveries = append(out.Deliveries, where+" "+row.Str(attrDeliveryState))
	case outbox.RowMessage:
		out.Messages = append(out.Messages, where+" "+row.Str(attrMessageType))
	default:
		if !sk.IsRow() && row.Has(entity.AttrTTL) {
			out.Expiring = append(out.Expiring, user+" "+sk.String()+until(row))
		}
	}
	return nil
}

func until(row item.Item) string {
	return " until " + item.FormatInstant(time.Unix(row.Int(entity.AttrTTL), 0).UTC())
}

func showSum(sum item.Item) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		switch value := sum[name].(type) {
		case item.Number:
			if value != "0" { // a number that was never counted equals 0
				fmt.Fprintf(&b, " %s=%s", name, value)
			}
		case item.String:
			fmt.Fprintf(&b, " %s=%s", name, value)
		}
	}
	return b.String()
}

func (v View) objects(ctx context.Context, out *State, objects blob.Store) error {
	for after := ""; ; {
		names, err := objects.List(ctx, "", blob.MaxList, after)
		if err != nil {
			return fmt.Errorf("list objects: %w", err)
		}
		for _, name := range names {
			if v.wants(name) {
				out.Objects = append(out.Objects, name)
			}
		}
		if len(names) < blob.MaxList {
			return nil
		}
		after = names[len(names)-1]
	}
}

// wants excludes other users' cold copies, and objects that are neither a copy nor parked.
func (v View) wants(name string) bool {
	if strings.HasPrefix(name, consume.ParkedPrefix) {
		return true
	}
	prefix := archive.CopiesPrefix("")
	user, _, _ := strings.Cut(strings.TrimPrefix(name, strings.TrimSuffix(prefix, "/")), "/")
	return strings.HasPrefix(name, archive.CopiesPrefix(user)) && v.has(user)
}

type kindOf struct {
	name  string
	lines *[]string
}

func (s *State) kinds() []kindOf {
	return []kindOf{
		{"stats", &s.Stats}, {"sum", &s.Sums}, {"ledger", &s.Ledger}, {"link", &s.Links}, {"timer", &s.Timers},
		{"cold", &s.Cold}, {"expiring", &s.Expiring}, {"delivery", &s.Deliveries}, {"message", &s.Messages},
		{"schedule", &s.Schedules}, {"event", &s.Events}, {"object", &s.Objects},
	}
}

// String returns one line for each derived item, after its kind.
func (s State) String() string {
	var b strings.Builder
	for _, kind := range s.kinds() {
		for _, line := range *kind.lines {
			fmt.Fprintf(&b, "%s %s\n", kind.name, line)
		}
	}
	return b.String()
}
