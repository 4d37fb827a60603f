package transfer_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/transfer"
)

// lineOf returns the line of a file that has the text.
func lineOf(t *testing.T, files map[string]string, name, text string) string {
	t.Helper()
	for line := range strings.SplitSeq(files[name], "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	t.Fatalf("%s has no line with %s", name, text)
	return ""
}

// with returns a line with other members; nil removes one.
func with(t *testing.T, line string, members fields) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var doc fields
	require.NoError(t, d.Decode(&doc))
	for name, v := range members {
		if doc[name] = v; v == nil {
			delete(doc, name)
		}
	}
	out, err := json.Marshal(doc)
	require.NoError(t, err)
	return string(out)
}

const (
	itemsFile  = "items/0001.ndjson"
	copiesFile = "archive/0001.ndjson"
)

// Each is a change of one line of a true file that no deployment makes, and the field or the reason that the refusal
// names.
func TestImport_refusesForgedLines(t *testing.T) {
	t.Parallel()
	here := newFixture(t)
	here.live("ann")
	genuine := unzip(t, here.export("ann"))
	for _, forged := range []struct {
		file, line string
		members    fields
		names      string
	}{
		{itemsFile, `"title":"Done"`, fields{"version": json.Number("9223372036854775807")}, "/version"},
		{itemsFile, `"title":"Done"`, fields{"version": json.Number("0")}, "/version"},
		{itemsFile, `"title":"Done"`, fields{"version": json.Number("1e3")}, "/version"},
		{itemsFile, `"title":"Done"`, fields{"version": nil}, "/version"},
		{itemsFile, `"title":"Done"`, fields{"PK": "USER#bob"}, "/PK"},
		{itemsFile, `"title":"Done"`, fields{"SK": "TASK#1", "GSI1PK": "USER#bob#2026"}, "/SK"},
		{itemsFile, `"title":"Done"`, fields{"taskId": "task_a#b"}, "taskId"},
		{itemsFile, `"title":"Done"`, fields{"taskId": "evt_1"}, "taskId"},
		{itemsFile, `"title":"Done"`, fields{"taskId": "../../archive/bob/task_1"}, "taskId"},
		{itemsFile, `"title":"Done"`, fields{"entityType": "USER_META"}, "entityType"},
		{itemsFile, `"title":"Done"`, fields{"entityType": "LEDGER"}, "entityType"},
		{itemsFile, `"title":"Done"`, fields{"createdAt": "9999-01-01T00:00:00Z"}, "/createdAt"},
		{itemsFile, `"title":"Done"`, fields{"createdAt": "2026-03-02T13:00:00Z"}, "/createdAt"},
		{itemsFile, `"title":"Done"`, fields{"updatedAt": "2026-04-01T00:00:00Z"}, "/updatedAt"},
		{itemsFile, `"title":"Done"`, fields{"completedAt": nil}, "/completedAt"},
		{itemsFile, `"title":"Done"`, fields{"completedOn": "2026-03-04"}, "/completedOn"},
		{itemsFile, `"title":"Done"`, fields{"completedOn": "2026-02-30"}, "/completedOn"},
		{itemsFile, `"title":"Done"`, fields{"completedOnAt": "2026-03-02T12:00:00Z"}, "/completedOnAt"},
		{itemsFile, `"title":"Done"`, fields{"archiveAt": "2199-01-01T00:00:00Z"}, "/archiveAt"},
		{itemsFile, `"title":"Done"`, fields{"archivedAt": "2026-03-01T00:00:00Z"}, "/archivedAt"},
		{itemsFile, `"title":"Done"`, fields{"status": "GONE"}, "/status"},
		{itemsFile, `"title":"Done"`, fields{"priority": json.Number("9")}, "/priority"},
		{itemsFile, `"title":"Done"`, fields{"title": strings.Repeat("x", 501)}, "/title"},
		{itemsFile, `"title":"Done"`, fields{"title": nil}, "/title"},
		{itemsFile, `"title":"Done"`, fields{"dueSetAt": "2020-01-01T00:00:00Z"}, "/dueSetAt"},
		{itemsFile, `"title":"Done"`, fields{"_": fields{"dueSetAt": "x"}}, "_"},
		{itemsFile, `"title":"Done"`, fields{"_": fields{"editVersion": 2}}, "editVersion"},
		{itemsFile, `"title":"Done"`, fields{"_": fields{"editVersion": -1}}, "editVersion"},
		{itemsFile, `"title":"Done"`, fields{"_": fields{"kept": "BEGIN:VEVENT\r\nEND:VEVENT\r\n"}}, "kept"},
		{itemsFile, `"title":"Done"`, fields{"_": fields{"kept": "BEGIN:X-KEPT\r\nX-A:b"}}, "kept"},
		{itemsFile, `"title":"Done"`, fields{"links": []any{fields{"targetType": "LEDGER", "targetId": "x"}}}, "/links"},
		{itemsFile, `"title":"Done"`, fields{"links": []any{fields{"targetType": "TASK", "targetId": "task_a#b"}}}, "/links"},
		{itemsFile, `"title":"Meet"`, fields{"startUtc": "9999-01-01T00:00:00"}, "/startUtc"},
		{itemsFile, `"title":"Meet"`, fields{"sequence": json.Number("-1")}, "/sequence"},
		{itemsFile, `"title":"Meet"`, fields{"icalUid": strings.Repeat("u", 1001)}, "/icalUid"},
		{itemsFile, `"title":"Daily"`, fields{"rrule": "FREQ=SECONDLY"}, "/rrule"},
		{itemsFile, `"title":"Another"`, fields{"masterId": "mst_0f8fad5b-d9cb-469f-a165-70867728950e"}, "/masterId"},
		{itemsFile, `"title":"Another"`, fields{"modifiedFields": []any{"version"}}, "/modifiedFields"},
		{itemsFile, `"title":"Another"`, fields{"location": "here"}, "/location"},
		{
			itemsFile, `"title":"Another"`, fields{
				"eventId":  "inst_20260304_0f8fad5b-d9cb-469f-a165-70867728950e",
				"masterId": "mst_0f8fad5b-d9cb-469f-a165-70867728950e",
			}, "its series",
		},
		{itemsFile, `"title":"Ring"`, fields{"triggerUtc": "2026-03-04T07:00:00"}, "/triggerUtc"},
		{itemsFile, `"title":"Ring"`, fields{"status": "SNOOZED"}, "/snoozeState"},
		{copiesFile, `"title":"Old"`, fields{"status": "BACKLOG", "archivedAt": nil}, "is a copy"},
		{copiesFile, `"title":"Old"`, fields{"restoredAt": "2026-03-01T00:00:00Z"}, "is a copy"},
		{copiesFile, `"title":"Old"`, fields{"object": "archive/bob/task_1/1.json"}, "/object"},
		{"gone.ndjson", `note_`, fields{"id": "note_a#b"}, "id"},
		{"gone.ndjson", `note_`, fields{"id": "inst_20260304_1"}, "id"},
		{"gone.ndjson", `note_`, fields{"becameId": "mst_1"}, "becameId"},
		{"gone.ndjson", `note_`, fields{"deletedAt": "2026-03-01T00:00:00Z"}, "deletedAt"},
		{"settings.json", `USER_META`, fields{"userId": "bob#x"}, ""},
		{"settings.json", `USER_META`, fields{"stats": fields{"totalTasks": 7}}, "statistics"},
		{"settings.json", `USER_META`, fields{"statsVersion": 7}, "/statsVersion"},
		{"settings.json", `USER_META`, fields{"defaultTzid": "Mars/Base"}, "/defaultTzid"},
		{"settings.json", `USER_META`, fields{"version": json.Number("-1")}, "/version"},
	} {
		t.Run(fmt.Sprint(forged.members), func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(genuine)
			line := lineOf(t, files, forged.file, forged.line)
			files[forged.file] = strings.Replace(files[forged.file], line, with(t, line, forged.members), 1)
			isRefused(t, rezip(t, files), forged.names)
		})
	}
}

// isRefused checks that a file leaves no byte, in the account or in another's.
func isRefused(t *testing.T, file []byte, names string) {
	t.Helper()
	there := newFixture(t)
	there.live("bob")
	before := there.dump()
	_, err := there.take("zoe", file)
	if names == "" {
		require.NoError(t, err)
		for _, row := range there.dump() {
			if !strings.HasPrefix(row, "USER#zoe/") && !strings.HasPrefix(row, "U#zoe") {
				require.Contains(t, before, row)
			}
		}
		return
	}
	var refused *transfer.FileError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, err.Error(), names)
	require.Equal(t, before, there.dump())
}

func TestImport_refusesForgedHistories(t *testing.T) {
	t.Parallel()
	here := newFixture(t)
	here.live("ann")
	genuine := unzip(t, here.export("ann"))
	log := "values/log.ndjson"
	entries := strings.Split(strings.TrimSpace(genuine[log]), "\n")
	idOf := func(entry string) string { return regexp.MustCompile(`"revId":"([^"]+)"`).FindStringSubmatch(entry)[1] }
	newest, last := "values/"+idOf(entries[2])+".ndjson", "values/"+idOf(entries[3])+".ndjson"
	day := "plans/2026-03-02/"
	for name, forge := range map[string]func(files map[string]string){
		"parentRevId":   func(f map[string]string) { f[log] = strings.Join([]string{entries[0], entries[2]}, "\n") + "\n" },
		"revTs must be": func(f map[string]string) { f[log] = strings.Join([]string{entries[1], entries[0]}, "\n") + "\n" },
		"revTs must be ": func(f map[string]string) {
			f[log] += strings.ReplaceAll(entries[3], `"revTs":"2026`, `"revTs":"2027`) + "\n"
		},
		"has passed": func(f map[string]string) {
			late := strings.NewReplacer("20260302T", "99990302T", `"revTs":"2026`, `"revTs":"9999`).Replace(entries[3])
			f[log] += with(t, late, fields{"parentRevId": idOf(entries[3])}) + "\n"
			f["values/"+idOf(late)+".ndjson"] = f[last]
		},
		"cycle": func(f map[string]string) {
			drv := regexp.MustCompile(`"nodeId":"(drv_[^"]+)"`).FindStringSubmatch(f[newest])[1]
			a, b := "mil_0f8fad5b-d9cb-469f-a165-70867728950e", "mil_1f8fad5b-d9cb-469f-a165-70867728950e"
			at := strings.Trim(entries[2][strings.Index(entries[2], `"revTs":`)+8:][:22], `"`)
			for _, id := range []string{a, b} {
				f[newest] += fmt.Sprintf(
					`{"nodeId":%q,"nodeType":"MILESTONE","title":"x","createdAt":%q,"rootDriverId":%q}`+"\n", id, at, drv)
			}
			f[newest] += fmt.Sprintf(`{"parentNodeId":%q,"order":1,"childNodeId":%q}`+"\n", a, b)
			f[newest] += fmt.Sprintf(`{"parentNodeId":%q,"order":1,"childNodeId":%q}`+"\n", b, a)
		},
		"node-lost":           func(f map[string]string) { f[newest] = "" },
		"rollback restores":   func(f map[string]string) { f[last] = f[newest] },
		"no entry of the log": func(f map[string]string) { f[log] = strings.Join(entries[:3], "\n") + "\n" },
		"is missing":          func(f map[string]string) { delete(f, last) },
		"unknown field": func(f map[string]string) {
			f[newest] = strings.Replace(f[newest], `"nodeId"`, `"PK":"U#bob","nodeId"`, 1)
		},
		"source": func(f map[string]string) {
			f[log] = strings.Replace(f[log], `"source":"daily_update"`, `"source":"magic"`, 1)
		},
		"todo-action-unknown": func(f map[string]string) {
			for name := range f {
				if strings.HasPrefix(name, "plans/2026-03-03/rev") {
					const other = "act_0f8fad5b-d9cb-469f-a165-70867728950e"
					f[name] = regexp.MustCompile(`act_[0-9a-f-]+`).ReplaceAllString(f[name], other)
				}
			}
		},
		"block-day": func(f map[string]string) {
			for name := range f {
				if strings.HasPrefix(name, day+"rev") {
					f[name] = strings.ReplaceAll(f[name], `TimeIso":"2026-03-02`, `TimeIso":"2026-05-02`)
				}
			}
		},
		"no file of an export": func(f map[string]string) {
			f["plans/2026-02-30/log.ndjson"] = f[day+"log.ndjson"]
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(genuine)
			forge(files)
			isRefused(t, rezip(t, files), strings.TrimSpace(name))
		})
	}
}

func TestImport_refusesWhatIsThereTwice(t *testing.T) {
	t.Parallel()
	here := newFixture(t)
	here.live("ann")
	genuine := unzip(t, here.export("ann"))
	done := lineOf(t, genuine, itemsFile, `"title":"Done"`)
	id := regexp.MustCompile(`task_[0-9a-f-]+`).FindString(done)
	for name, forge := range map[string]func(f map[string]string){
		"items":   func(f map[string]string) { f[itemsFile] += done + "\n" },
		"gone":    func(f map[string]string) { f["gone.ndjson"] += `{"id":"` + id + `"}` + "\n" },
		"archive": func(f map[string]string) { f[copiesFile] += strings.Replace(f[copiesFile], "0f8fad5b", "0f8fad5b", 1) },
		"other":   func(f map[string]string) { f["items/0002.ndjson"] = done + "\n" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(genuine)
			forge(files)
			isRefused(t, rezip(t, files), "twice")
		})
	}
}

// zipOf makes a file of entries as they are.
func zipOf(t *testing.T, entries ...[2]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		w, err := z.Create(e[0])
		require.NoError(t, err)
		_, err = io.WriteString(w, e[1])
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

func TestImport_refusesFilesOfAnotherForm(t *testing.T) {
	t.Parallel()
	here := newFixture(t)
	here.live("ann")
	file := here.export("ann")
	files := unzip(t, file)
	manifest := files["manifest.json"]
	bomb := strings.Repeat("x", 64<<20)
	for name, forged := range map[string][]byte{
		"no zip file":               []byte("PK"),
		"manifest.json: is missing": zipOf(t),
		"no file of an export":      zipOf(t, [2]string{"manifest.json", manifest}, [2]string{"../../etc/passwd", "x"}),
		"no file of an export ":     zipOf(t, [2]string{"manifest.json", manifest}, [2]string{"/items/0001.ndjson", "x"}),
		"no file of an export  ":    zipOf(t, [2]string{"items/../../x.ndjson", "x"}),
		"is there twice":            zipOf(t, [2]string{"settings.json", "1"}, [2]string{"settings.json", "2"}),
		"form 2":                    zipOf(t, [2]string{"manifest.json", `{"form":2}`}),
		"in the manifest and not":   zipOf(t, [2]string{"manifest.json", manifest}),
		"is not in the manifest": zipOf(t,
			[2]string{"manifest.json", `{"form":1,"files":[]}`}, [2]string{"items/0001.ndjson", "{}\n"}),
		"SHA-256 differ": zipOf(t, [2]string{"settings.json", ""}, [2]string{
			"manifest.json", `{"form":1,"files":[{"name":"settings.json","bytes":0,"lines":0,"sha256":""}]}`,
		}),
		"more than 1048576 bytes": zipOf(t, [2]string{"settings.json", bomb}, [2]string{
			"manifest.json", `{"form":1,"files":[{"name":"settings.json","bytes":67108864,"lines":1,"sha256":""}]}`,
		}),
		"does not end with": zipOf(t, [2]string{"settings.json", "{}"}, [2]string{
			"manifest.json", `{"form":1,"files":[{"name":"settings.json","bytes":2,"lines":1,"sha256":""}]}`,
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			isRefused(t, forged, strings.TrimSpace(name))
		})
	}
	cut := file[:len(file)-30]
	isRefused(t, cut, "no zip file")
}

func TestImport_cleansTextsFromBeforeTheRule(t *testing.T) {
	t.Parallel()
	here, there := newFixture(t), newFixture(t)
	here.live("ann")
	files := unzip(t, here.export("ann"))
	files[itemsFile] = strings.Replace(files[itemsFile], `"title":"Done"`, `"title":"Do\u202ene"`, 1)
	files[itemsFile] = strings.Replace(files[itemsFile], `"tags":["a","b"]`, `"tags":["a\u0000","b"]`, 1)
	for name := range files {
		if strings.HasPrefix(name, "values/rev") {
			files[name] = strings.ReplaceAll(files[name], `"title":"Run"`, `"title":"R\u2028un"`)
		}
	}
	report, err := there.take("zoe", rezip(t, files))
	require.NoError(t, err)
	require.Equal(t, 2+4, report.CleanedTotal, report.Cleaned)
	again := unzip(t, there.export("zoe"))
	require.Contains(t, again[itemsFile], `"title":"Do ne"`)
	require.Contains(t, again[itemsFile], `"tags":["a ","b"]`)
	require.Contains(t, again["readable/values.md"], "R un")
}
