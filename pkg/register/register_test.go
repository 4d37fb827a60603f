package register_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deliver"
	"nexus/pkg/deploy/alarm"
	"nexus/pkg/entity"
	"nexus/pkg/entity/account"
	"nexus/pkg/entity/device"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/register"
	"nexus/pkg/reminders"
)

func TestLines_areComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, line := range register.Lines() {
		require.False(t, seen[line.String()], line)
		seen[line.String()] = true
		require.NotEmpty(t, line.Place, line)
		require.NotEmpty(t, line.Holds, line)
		require.Contains(t, []register.Owner{
			register.ByKey, register.ByName, register.ByContent, register.NoUser,
		}, line.Owner, line)
		require.Contains(t, []register.Export{
			register.AsItem, register.AsRevision, register.AsCopy, register.AsSettings, register.AsIDs, register.None,
		}, line.Export, line)
		require.Contains(t, []register.Erasure{
			register.ByWalk, register.ByLog, register.ByList, register.ByReading, register.ByWaiting, register.Never,
		}, line.Erasure, line)
		require.Equal(t, line.Erasure == register.ByWaiting, line.Until != "", line)
		isLeftOut := line.Export == register.None &&
			(line.Place == register.Items || line.Place == register.Repositories)
		require.Equal(t, isLeftOut, line.Why != "", line)
		require.Contains(t, []register.Suite{
			register.Simulation, register.Functions, register.Histories, register.Erasures, register.Transfers,
			register.Verifications, register.Deliveries, register.Webhooks, register.Demo, register.OnAWS,
		}, line.Suite, line)
	}
}

func TestLines_haveTheTypesOfTheRegistry(t *testing.T) {
	t.Parallel()
	var types, lines []string
	for _, typ := range product.Registry().Types() {
		types = append(types, typ.Name)
	}
	for _, line := range register.Lines() {
		if prefix, _, _ := strings.Cut(line.Shape, "#"); line.Entity {
			lines = append(lines, prefix)
		}
	}
	require.ElementsMatch(t, types, lines)
}

// Each package that builds keys and names builds them as the register says.
func TestFindRow_findsEachKeyThatIsBuilt(t *testing.T) {
	t.Parallel()
	const uuid = "0f8fad5b-d9cb-469f-a165-70867728950e"
	noon := time.Date(2026, 1, 23, 12, 0, 0, 0, time.UTC)
	revID := repository.NewRevisionID(noon, uuid)
	tree, plan := repository.Address{User: "ann"}, repository.Address{User: "ann", Date: "2026-01-23"}
	task := entity.Ref{Type: product.TypeTask, ID: "task_1"}
	instance := entity.ItemKey("ann", entity.Ref{Type: entity.TypeInstance, ID: "inst_20260123_1"})
	built := map[string]item.Key{
		"EVENT#<id>":  entity.ItemKey("ann", entity.Ref{Type: product.TypeEvent, ID: "evt_1"}),
		"MASTER#<id>": entity.ItemKey("ann", entity.Ref{Type: entity.TypeMaster, ID: "mst_1"}),
		"TASK#<id>":   entity.ItemKey("ann", task), "INSTANCE#<masterId>#<date>": instance,
		"REMINDER#<id>": entity.ItemKey("ann", entity.Ref{Type: product.TypeReminder, ID: "rem_1"}),
		"NOTE#<id>":     entity.ItemKey("ann", entity.Ref{Type: product.TypeNote, ID: "note_1"}),
		"USER_META#u":   entity.MetaKey("ann"),
		"LINK#<srcType>#<srcId>#<dstType>#<dstId>":   entity.LinkKey("ann", task, task),
		"LEDGER#<projection>#<itemId>":               entity.LedgerKey("ann", "stats", "task_1"),
		"TIMER#ARCHIVE#<taskId>#<version>":           entity.TimerKey("ann", "task_1", 1),
		"FIRED#<itemId>#<offset>#<occurrence>#<due>": entity.DeliveryKey("ann", "task_1", 0, noon, noon),
		"COLD#<itemId>":                              entity.ColdKey("ann", "task_1"),
		"GONE#<itemId>":                              entity.GoneKey("ann", "task_1"),
		"RECEIPT#<hash>":                             entity.ReceiptKey("ann", "0"),
		"SUM#<projection>":                           entity.SumKey("ann", "own"),
		"ZONE#<USER_META version>":                   entity.ZoneKey("ann", 1),
		"SERIES#<masterId>#<version>":                entity.SeriesKey("ann", "mst_1", 1),
		"FEED#u":                                     entity.FeedKey("ann"),
		"CHANGE#<n>":                                 device.ChangeKey("ann", 1),
		"IMPORT#u":                                   account.ImportKey("ann"),
		"CHANGE#open":                                device.WatchKey("ann"),
		"KEPT#<sort key of an item…>":                entity.KeptKey(instance),
		"DEVICE#<deviceId>":                          device.DeviceKey("ann", "a"),
		"PUSH#<deliveryId>#<deviceId>":               device.PushKey("ann", "a", "b"),
		"ACT#<deliveryId>":                           device.ActKey("ann", "a"),
		"HEAD#VALUES":                                tree.HeadKey(),
		"REV#VALUES#<Z>#<revId>":                     tree.LogKey(revID),
		"DRAFT#VALUES#<revId>":                       tree.DraftKey(revID),
		"DRAFT#PLAN#<date>#<revId>":                  plan.DraftKey(revID),
		"PLAN#<date>":                                plan.DayKey(),
		"NODE#<nodeId>":                              tree.NodeKey(revID, "act_1"),
		"EDGE#<parentId>#<n>#<childId>":              tree.EdgeKey(revID, "drv_1", 1, "act_1"),
		"HEAD":                                       plan.HeadKey(),
		"REV#<Z>#<revId>":                            plan.LogKey(revID),
		"TODO#<n>#A#<actionId>":                      plan.TodoKey(revID, 1, "act_1"),
		"BLOCK#<Z>#<blockId>":                        plan.BlockKey(revID, noon, "blk_1"),
	}
	rows := 0
	for _, line := range register.Lines() {
		if _, isRow := built[line.Shape]; isRow {
			rows++
		}
	}
	require.Len(t, built, rows)
	for shape, key := range built {
		line, ok := register.FindRow(key.PK, key.SK)
		require.True(t, ok, key)
		require.Equal(t, shape, line.Shape)
	}
	_, ok := register.Find(register.Scheduler, reminders.ScheduleName("ann", "task_1", 0))
	require.True(t, ok)
	_, ok = register.Find(register.Scheduler, deliver.ScheduleName("ann", "delivery", "device"))
	require.True(t, ok)
	for _, queue := range []string{alarm.ScheduleQueue, alarm.NotifyQueue, alarm.DeliverQueue} {
		_, ok = register.Find(register.Queue, queue)
		require.True(t, ok, queue)
	}
}

func TestWalk_namesWhatNoLineMatches(t *testing.T) {
	t.Parallel()
	var walk register.Walk
	for _, key := range [][2]string{
		{"USER#ann", "WIDGET#1"}, {"USER#ann", "GONE"}, {"USER#ann", "GONE#a#b"}, {"USER#ann", "COLD#"}, {"USER#", "FEED#u"},
		{"USER#ann", "HEAD#VALUES"}, {"U#ann", "HEAD"}, {"U#ann#NOTES#rev_1", "NODE#1"}, {"U#ann#PLAN#d#r#x", "TODO#1"},
		{"USER#ann", "KEPT#"}, {"SHOP#1", "GONE#task_1"},
	} {
		require.False(t, walk.Row(key[0], key[1]), key)
	}
	for _, name := range []string{
		"archive/ann/task_1", "archive/ann/task_1/1.txt", "parked/stats", "other", "aws/lambda/", "parked/stats/0/1.json",
	} {
		require.False(t, walk.Object(name), name)
	}
	require.False(t, walk.Name(register.Scheduler, "reminder-"))
	require.False(t, walk.Name(register.Scheduler, "wake-1"))
	require.False(t, walk.Name(register.Bus, "ReminderDueAgain"))
	require.Len(t, walk.Strange(), 20)
	require.Empty(t, walk.Found())

	require.True(t, walk.Row("USER#ann", "FEED#ann"))
	require.True(t, walk.Object("archive/ann/task_1/1.json"))
	for _, name := range []string{
		"aws/lambda/1/x/2026/y.json", "parked/stats/.unreadable/0.json", "parked/stats/ann/.0/1.json",
		"parked/stats/ann/task_1/1-2.json",
	} {
		require.True(t, walk.Object(name), name)
	}
	require.Len(t, walk.Found(), 6)
	for _, line := range walk.Missing(register.Demo) {
		require.NotEqual(t, "FEED#u", line.Shape)
		require.Equal(t, register.Demo, line.Suite)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	require.NoError(t, err)
	return string(text)
}

// docs/data-model.md and docs/repositories.md have the rows of the register, and no others.
func TestLines_areThoseOfTheDataModel(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(read(t, "data-model.md"), "\n## Rows that are no entities\n")
	section, _, _ = strings.Cut(section, "\n#")
	documented := func(text, row string) (shapes []string) {
		for _, found := range regexp.MustCompile(row).FindAllStringSubmatch(text, -1) {
			shapes = append(shapes, found[1])
		}
		return shapes
	}
	var derived, kept []string
	for _, line := range register.Lines() {
		shape := strings.ReplaceAll(line.Shape, "…>", ">")
		switch {
		case line.Place == register.Items && !line.Entity:
			derived = append(derived, shape)
		case slices.Contains([]register.Place{
			register.Repositories, register.Tree, register.Plan, register.PlanSnapshot,
		}, line.Place):
			kept = append(kept, strings.ReplaceAll(shape, "<date>", "YYYY-MM-DD"))
		}
	}
	require.ElementsMatch(t, derived, documented(section, "(?m)^\\| [a-z ]+ \\| `([^`]+)`"))
	_, rows, _ := strings.Cut(read(t, "repositories.md"), "\n## Rows\n")
	rows, _, _ = strings.Cut(rows, "\nNo row has")
	require.ElementsMatch(t, kept, documented(rows, "(?:/|,) `([A-Z][^`]*)`"))
}

// docs/privacy.md shows the register.
func TestLines_areShownInTheDocument(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| where | key or name | what | owner by | kept | export | erasure | made by |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	code := func(text string) string {
		if text == "" {
			return ""
		}
		return "`" + text + "`"
	}
	for _, line := range register.Lines() {
		place := string(line.Place)
		if strings.Contains(place, "#") || line.Place == register.Repositories {
			place = code(place)
		}
		erasure := string(line.Erasure)
		if line.Until != "" {
			erasure += ": " + line.Until
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", place, code(line.Shape), line.Holds,
			line.Owner, line.Kept(), line.Export, erasure, line.Suite)
	}
	_, section, _ := strings.Cut(read(t, "privacy.md"), "\n## The register of owners\n")
	_, shown, _ := strings.Cut(section, "\n| where")
	shown, _, _ = strings.Cut("| where"+shown, "\n\n")
	require.Equal(t, table.String(), shown+"\n", "docs/privacy.md should have:\n%s", &table)
}

// The days in the column are those of the code's own document of rows.
func TestLine_saysHowLongARowIsKept(t *testing.T) {
	t.Parallel()
	model := read(t, "data-model.md")
	for _, line := range register.Lines() {
		days := regexp.MustCompile(`\d+ (days|h\b)`).FindString(line.Kept())
		if line.Place != register.Items || days == "" {
			continue
		}
		_, row, found := strings.Cut(model, "| `"+strings.Split(line.Shape, "<")[0])
		require.True(t, found, line)
		row, _, _ = strings.Cut(row, "\n")
		require.Contains(t, row, days, line)
	}
}
