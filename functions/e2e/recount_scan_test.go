package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
	"nexus/pkg/local/engine/enginetest"
)

// scannedRow is a row as the table has it. What follows recounts from such rows and shares no code with the system:
// names of attributes, keys and statuses are spelled out.
type scannedRow map[string]any

func (r scannedRow) text(name string) string { s, _ := r[name].(string); return s }

func (r scannedRow) kind() string { kind, _, _ := strings.Cut(r.text("SK"), "#"); return kind }

func (r scannedRow) id() string { _, id, _ := strings.Cut(r.text("SK"), "#"); return id }

func (r scannedRow) list(name string) []any { l, _ := r[name].([]any); return l }

// scanned reads the whole table, by user.
func (w *fixture) scanned() map[string][]scannedRow {
	w.Helper()
	pages := dynamodb.NewScanPaginator(enginetest.Client(enginetest.Start(w.T)), &dynamodb.ScanInput{
		TableName: aws.String(w.settings[env.TableName]), ConsistentRead: aws.Bool(true),
	})
	out := map[string][]scannedRow{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(w.Context())
		require.NoError(w, err)
		for _, attributes := range page.Items {
			r := scannedRow(plainMap(attributes))
			if user, isUser := strings.CutPrefix(r.text("PK"), "USER#"); isUser {
				out[user] = append(out[user], r)
			}
		}
	}
	return out
}

func plainMap(attributes map[string]types.AttributeValue) map[string]any {
	out := map[string]any{}
	for name, value := range attributes {
		out[name] = plainValue(value)
	}
	return out
}

func plainValue(value types.AttributeValue) any {
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return value.Value
	case *types.AttributeValueMemberN:
		return json.Number(value.Value)
	case *types.AttributeValueMemberBOOL:
		return value.Value
	case *types.AttributeValueMemberM:
		return plainMap(value.Value)
	case *types.AttributeValueMemberNS:
		out := []any{}
		for _, n := range value.Value {
			out = append(out, json.Number(n))
		}
		return out
	case *types.AttributeValueMemberL:
		out := []any{}
		for _, each := range value.Value {
			out = append(out, plainValue(each))
		}
		return out
	}
	return fmt.Sprintf("%#v", value)
}

// countedAs names the total that counts a kind of item.
var countedAs = map[string]string{
	"EVENT": "totalEvents", "MASTER": "totalEvents", "TASK": "totalTasks", "REMINDER": "totalReminders",
	"NOTE": "totalNotes",
}

// recountByScan recounts totals, edges, timers, cold copies and schedules from a scan of the table, for the items that
// [work] makes. It returns how many facts it held against each other, and what differs.
func (w *fixture) recountByScan() (facts int, differences []string) {
	w.Helper()
	want, got := map[string]bool{}, map[string]bool{}
	for user, rows := range w.scanned() {
		w.derivedFrom(user, rows, want)
		found(user, rows, got)
	}
	for name, s := range w.services.waiting() {
		if strings.HasPrefix(name, "push-") || strings.HasPrefix(name, "hook-") {
			continue // of a delivery on a device or to a webhook, which no item announces
		}
		var in struct {
			UserID        string `json:"userId"`
			ItemID        string `json:"itemId"`
			OffsetMinutes int    `json:"offsetMinutes"`
		}
		require.NoError(w, json.Unmarshal([]byte(s.Target.Input), &in), "%s", name)
		got[fmt.Sprintf("%s: %s is announced %d minutes ahead, %s", in.UserID, in.ItemID, in.OffsetMinutes,
			s.ScheduleExpression)] = true
	}
	for _, name := range w.services.stored() {
		if copied, isCopy := strings.CutPrefix(name, archive+"/archive/"); isCopy {
			user, item, _ := strings.Cut(copied, "/")
			got[fmt.Sprintf("%s: a copy %s", user, item)] = true
		}
	}
	for _, fact := range slices.Sorted(maps.Keys(want)) {
		if !got[fact] {
			differences = append(differences, "missing: "+fact)
		}
	}
	for _, fact := range slices.Sorted(maps.Keys(got)) {
		// A timer of a task that was open again may run off.
		if !want[fact] && !strings.Contains(fact, ": a timer of ") {
			differences = append(differences, "not due: "+fact)
		}
	}
	return len(want), differences
}

// derivedFrom adds what has to follow from a user's items.
func (w *fixture) derivedFrom(user string, rows []scannedRow, want map[string]bool) {
	w.Helper()
	zone, totals := time.UTC, map[string]int{}
	for _, r := range rows {
		if r.kind() == "USER_META" && r.text("defaultTzid") != "" {
			var err error
			zone, err = time.LoadLocation(r.text("defaultTzid"))
			require.NoError(w, err)
		}
	}
	for _, r := range rows {
		total := countedAs[r.kind()]
		if total == "" {
			continue
		}
		totals[total]++
		node := r.kind() + "#" + r.id()
		for _, each := range r.list("links") {
			link := each.(map[string]any)
			want[fmt.Sprintf("%s: an edge %s#%s#%s", user, node, link["targetType"], link["targetId"])] = true
		}
		for offset, at := range r.announced(w, zone) {
			if at.Before(time.Now()) {
				continue
			}
			want[fmt.Sprintf("%s: %s is announced %d minutes ahead, at(%s)", user, r.id(), offset,
				at.UTC().Format("2006-01-02T15:04:05"))] = true
		}
		status := r.text("status")
		if r.kind() == "TASK" && status == "COMPLETED" {
			want[fmt.Sprintf("%s: a timer of %s", user, r.id())] = true
		}
		archived := r.kind() == "TASK" && status == "ARCHIVED" && r.text("restoredAt") == ""
		if archived || r.kind() == "EVENT" && status == "CANCELLED" ||
			r.kind() == "REMINDER" && (status == "COMPLETED" || status == "DISMISSED") {
			want[fmt.Sprintf("%s: an end of %s", user, r.id())] = true
			want[fmt.Sprintf("%s: a cold row of %s", user, r.id())] = true
			want[fmt.Sprintf("%s: a copy %s/%s.json", user, r.id(), r["version"])] = true
		}
	}
	for _, total := range countedAs {
		want[fmt.Sprintf("%s: %s is %d", user, total, totals[total])] = true
	}
}

// announced are the instants at which an item is announced, by offset in minutes.
func (r scannedRow) announced(w *fixture, zone *time.Location) map[int]time.Time {
	w.Helper()
	out := map[int]time.Time{}
	attribute, tzid, open := "startUtc", "startTzid", r.text("status") != "CANCELLED"
	switch r.kind() {
	case "TASK":
		attribute, tzid = "dueUtc", "dueTzid"
		open = r.text("status") == "BACKLOG" || r.text("status") == "IN_PROGRESS"
	case "REMINDER":
		attribute, tzid, open = "triggerUtc", "tzid", r.text("status") == "PENDING"
	case "NOTE":
		open = false
	}
	if !open || r.text(attribute) == "" {
		return nil
	}
	if r.text(tzid) != "" {
		zone = time.UTC
	}
	at, err := time.ParseInLocation(instantForm, r.text(attribute), zone)
	require.NoError(w, err, "%v", r)
	offsets := r.list("reminderMinutes")
	if r.kind() == "REMINDER" {
		offsets = []any{json.Number("0")}
	}
	for _, each := range offsets {
		minutes, err := each.(json.Number).Int64()
		require.NoError(w, err)
		out[int(minutes)] = at.Add(-time.Duration(minutes) * time.Minute)
	}
	return out
}

// found adds what a user's derived rows say.
func found(user string, rows []scannedRow, got map[string]bool) {
	for _, r := range rows {
		switch r.kind() {
		case "USER_META":
			stats, _ := r["stats"].(map[string]any)
			for _, total := range countedAs {
				n, ok := stats[total]
				if !ok {
					n = 0
				}
				got[fmt.Sprintf("%s: %s is %v", user, total, n)] = true
			}
		case "LINK":
			got[fmt.Sprintf("%s: an edge %s", user, r.id())] = true
		case "TIMER":
			got[fmt.Sprintf("%s: a timer of %s", user, strings.Split(r.text("SK"), "#")[2])] = true
		case "COLD":
			got[fmt.Sprintf("%s: a cold row of %s", user, r.id())] = true
		}
		if _, ends := r["ttl"]; ends && countedAs[r.kind()] != "" {
			got[fmt.Sprintf("%s: an end of %s", user, r.id())] = true
		}
	}
}
