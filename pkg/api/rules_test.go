package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nodes that only broken commits have.
const (
	work  = "drv_00000000-0000-4000-9000-000000000011"
	climb = "mil_00000000-0000-4000-9000-000000000012"
	swim  = "act_00000000-0000-4000-9000-000000000013"
)

// violation is a change of the text of a body that is right, and what is then wrong with it.
type violation struct{ old, new, fault string }

func edge(parent string, order int, child string) string {
	return fmt.Sprintf(`{"parentNodeId":%q,"order":%d,"childNodeId":%q}`, parent, order, child)
}

// brokenTrees are changes of a grown tree: of its nodes (0 driver, 1 milestone, 2 and 3 actions) and edges.
func brokenTrees() []violation {
	ofRun := func(more string) string { return `"title":"Run",` + more + `,` }
	first, second, third := edge(health, 1, race), edge(race, 1, run), edge(health, 2, stretch)
	return []violation{
		{`"message":"Weekly review"`, `"message":""`, " message-missing /message"},
		{`"Weekly review"`, `"` + strings.Repeat("a", 501) + `"`, " message-long /message"},
		{`"weekly_review"`, `"rollback"`, " source-unknown /source"},
		{`"DRIVER"`, `"GOAL"`, health + " node-type /nodes/0/nodeType"},
		{`"nodeType":"MILESTONE"`, `"nodeType":"ACTION"`, race + " node-type-changed /nodes/1/nodeType"},
		{`"title":"Run"`, `"title":""`, run + " title-missing /nodes/2/title"},
		{`"title":"Run"`, `"title":"` + strings.Repeat("a", 501) + `"`, run + " title-long /nodes/2/title"},
		{`"slowly"`, `"` + strings.Repeat("a", 10<<10+1) + `"`, run + " notes-long /nodes/2/notes"},
		{`"title":"Run",`, ofRun(`"createdAt":"2020-01-01T00:00:00Z"`), run + " created-at /nodes/2/createdAt"},
		{`"title":"Health"`, `"title":"Health","completedAt":"2026-03-02T10:00:00Z"`,
			health + " completed-driver /nodes/0/completedAt"},
		{`"title":"Run",`, ofRun(`"completedAt":"2027-01-01T00:00:00Z"`), run + " completed-at /nodes/2/completedAt"},
		{`"title":"Run",`, ofRun(`"archived":true,"deletedAt":"2027-01-01T00:00:00Z"`),
			run + " deleted-at /nodes/2/deletedAt"},
		{`"title":"Run",`, ofRun(`"forgottenAt":"2026-03-02T12:00:00Z"`), run + " forgotten-at /nodes/2/forgottenAt"},
		{`"title":"Run",`, ofRun(`"deletedAt":"2026-03-02T12:00:00Z"`), run + " deleted-unarchived /nodes/2/archived"},
		{`"title":"Run",`, ofRun(`"archived":true,"deletedAt":"2026-03-02T12:00:00Z"`),
			run + " edge-child-deleted /edges/1/childNodeId"},
		{`"title":"A race in May"`, `"title":"A","archived":true,"deletedAt":"2026-03-02T12:00:00Z"`,
			race + " edge-parent-deleted /edges/1/parentNodeId"},
		{`"nodes":[`, `"nodes":[{"nodeId":"` + health + `","nodeType":"DRIVER","title":"Health"},`,
			health + " node-twice /nodes/1/nodeId"},
		{`"nodes":[`, `"nodes":[{"nodeId":"nobody","nodeType":"DRIVER","title":"x"},`, "nobody node-id /nodes/0/nodeId"},
		{`"nodes":[`, `"nodes":[{"nodeId":"drv_1","nodeType":"DRIVER","title":"x"},`, "drv_1 new-node-id /nodes/0/nodeId"},
		{`"nodes":[`, `"nodes":[{"nodeId":"` + swim + `","nodeType":"ACTION","title":"x","driverId":"` + health + `"},`,
			swim + " no-parent /nodes/0"},
		{stretch, swim, stretch + " node-lost /nodes"},
		{`"title":"Run","driverId":"` + health + `"`, `"title":"Run"`, run + " driver-missing /nodes/2/driverId"},
		{`"title":"Run","driverId":"` + health, `"title":"Run","driverId":"` + work,
			run + " driver-unknown /nodes/2/driverId"},
		{`"title":"Run","driverId":"` + health, `"title":"Run","driverId":"` + race, run + " driver-type /nodes/2/driverId"},
		{`"title":"A race in May"`, `"title":"A","driverId":"` + health + `"`, race + " driver-foreign /nodes/1/driverId"},
		{`"title":"Run",`, ofRun(`"parentMilestoneId":"` + climb + `"`),
			run + " parent-milestone-unknown /nodes/2/parentMilestoneId"},
		{`"title":"Run",`, ofRun(`"parentMilestoneId":"` + health + `"`),
			run + " parent-milestone-type /nodes/2/parentMilestoneId"},
		{`"title":"Stretch",`, `"title":"Stretch","parentMilestoneId":"` + race + `",`,
			stretch + " parent-milestone-without-edge /nodes/3/parentMilestoneId"},
		{`"title":"Health"`, `"title":"Health","parentMilestoneId":"` + race + `"`,
			health + " parent-milestone-foreign /nodes/0/parentMilestoneId"},
		{`"title":"Run",`, ofRun(`"rootDriverId":"` + race + `"`), run + " root-driver /nodes/2/rootDriverId"},
		{second, second + `,` + edge(race, 2, race), race + " edge-to-itself /edges/2/childNodeId"},
		{second, second + `,` + edge(race, 2, run), run + " edge-twice /edges/2"},
		{second, second + `,` + edge(race, 2, health), health + " edge-child-driver /edges/2/childNodeId"},
		{second, second + `,` + edge(run, 1, stretch), run + " edge-parent-action /edges/2/parentNodeId"},
		{second, second + `,` + edge(climb, 1, run), climb + " edge-parent-unknown /edges/2/parentNodeId"},
		{second, second + `,` + edge(race, 2, swim), swim + " edge-child-unknown /edges/2/childNodeId"},
		{second, strings.Replace(second, `}`, `,"childNodeType":"MILESTONE"}`, 1),
			run + " edge-child-type /edges/1/childNodeType"},
		{third, edge(health, 3, stretch), stretch + " order /edges/2/order"},
		{third, edge(health, 1, stretch), stretch + " order-twice /edges/2/order"},
		{
			first, edge(race, 2, climb) + "," + edge(climb, 1, race),
			race + " cycle /nodes/1",
		},
	}
}

// brokenEdits are operations on a grown tree.
func brokenEdits() []violation {
	return []violation{
		{new: ``, fault: " no-operation /operations"},
		{new: strings.TrimSuffix(strings.Repeat(`{"op":"archive","nodeId":"`+run+`"},`, 501), ","),
			fault: " too-many-operations /operations"},
		{new: `{"op":"burn","nodeId":"` + run + `"}`, fault: run + " operation /operations/0/op"},
		{new: `{"op":"archive","nodeId":"` + swim + `"}`, fault: swim + " operation-node /operations/0/nodeId"},
		{new: `{"op":"move","nodeId":"` + run + `","parentId":"` + climb + `"}`,
			fault: run + " operation-parent /operations/0/parentId"},
		{new: `{"op":"move","nodeId":"` + run + `","parentId":"` + health + `","position":9}`,
			fault: run + " operation-position /operations/0/position"},
		{new: `{"op":"reorder","nodeId":"` + health + `","order":["` + race + `"]}`,
			fault: health + " operation-order /operations/0/order"},
		{new: `{"op":"archive","nodeId":"` + run + `","title":"x"}`, fault: run + " operation-field /operations/0/title"},
		{new: `{"op":"delete","nodeId":"` + run + `"},{"op":"complete","nodeId":"` + run + `"}`,
			fault: run + " operation-state /operations/1/nodeId"},
		{new: `{"op":"forget","nodeId":"` + run + `"}`, fault: run + " operation-state /operations/0/nodeId"},
		{new: `{"op":"delete","nodeId":"` + run + `"},{"op":"forget","nodeId":"` + run + `"},{"op":"restore","nodeId":"` +
			run + `"}`, fault: run + " title-missing /operations/2/title"},
		{new: `{"op":"link","nodeId":"` + race + `","parentId":"` + race + `"}`,
			fault: race + " edge-to-itself /operations/0/nodeId"},
	}
}

// brokenPlans are changes of a plan: to-dos (0 run, 1 stretch) and blocks (0 a pomodoro, 1 a break).
func brokenPlans() []violation {
	const todo = `"classification":"other"`
	pomodoro, pause := `{"blockType":"POMODORO"`, `{"blockType":"BREAK"`
	id := func(n int) string { return fmt.Sprintf("blk_00000000-0000-4000-9000-%012d", n) }
	named := func(block, name string) string { return `{"blockId":"` + name + `",` + block[1:] }
	first, second := named(pomodoro, id(1)), named(pause, id(2))
	return []violation{
		{`"morning_plan"`, `"mood"`, " source-unknown /reason"},
		{`"actionId":"` + stretch, `"actionId":"x`, "x todo-action /todos/1/actionId"},
		{`"actionId":"` + stretch, `"actionId":"` + swim, swim + " todo-action-unknown /todos/1/actionId"},
		{`"actionId":"` + stretch, `"actionId":"` + run, run + " todo-twice /todos/1/actionId"},
		{todo, todo + `,"order":7`, stretch + " todo-order /todos/1/order"},
		{todo, `"classification":"vital"`, stretch + " classification /todos/1/classification"},
		{todo, todo + `,"estimatedPomodoros":51`, stretch + " estimated-pomodoros /todos/1/estimatedPomodoros"},
		{todo, todo + `,"notes":"` + strings.Repeat("a", 4097) + `"`, stretch + " notes /todos/1/notes"},
		{todo, todo + `,"completedAt":"2027-01-01T00:00:00Z"`, stretch + " completed-at /todos/1/completedAt"},
		{pause, named(pause, "pause"), "pause block-id /blocks/1/blockId"},
		{pause, named(pause, "blk_1"), "blk_1 new-block-id /blocks/1/blockId"},
		{pomodoro, first + `,"startTimeIso":"2026-03-02T09:00:00Z","endTimeIso":"2026-03-02T09:01:00Z","actionId":"` + run +
			`","pomodoroIndex":1},` + first, id(1) + " block-twice /blocks/1/blockId"},
		{pause, `{"blockId":"` + id(2) + `","blockType":"NAP"`, id(2) + " block-type /blocks/1/blockType"},
		{pause, second + `,"title":"` + strings.Repeat("a", 501) + `"`, id(2) + " block-title /blocks/1/title"},
		{pause + `,"startTimeIso":"2026-03-02T09:25:00Z"`, second + `,"startTimeIso":"2026-03-05T09:25:00Z"`,
			id(2) + " block-day /blocks/1/startTimeIso"},
		{pause + `,"startTimeIso":"2026-03-02T09:25:00Z","endTimeIso":"2026-03-02T09:30:00Z"`,
			second + `,"startTimeIso":"2026-03-02T09:25:00Z","endTimeIso":"2026-03-02T09:20:00Z"`,
			id(2) + " block-end /blocks/1/endTimeIso"},
		{pause + `,"startTimeIso":"2026-03-02T09:25:00Z","endTimeIso":"2026-03-02T09:30:00Z"`,
			second + `,"startTimeIso":"2026-03-02T09:25:00Z","endTimeIso":"2026-03-04T09:30:00Z"`,
			id(2) + " block-length /blocks/1/endTimeIso"},
		{pause, second + `,"pomodoroIndex":1`, id(2) + " block-foreign-field /blocks/1/pomodoroIndex"},
		{pause, `{"blockId":"` + id(2) + `","blockType":"POMODORO","pomodoroIndex":1`,
			id(2) + " pomodoro-action /blocks/1/actionId"},
		{pause, `{"blockId":"` + id(2) + `","blockType":"POMODORO","pomodoroIndex":1,"actionId":"` + swim + `"`,
			id(2) + " pomodoro-action-unplanned /blocks/1/actionId"},
		{pause, `{"blockId":"` + id(2) + `","blockType":"POMODORO","actionId":"` + run + `"`,
			id(2) + " pomodoro-index /blocks/1/pomodoroIndex"},
		{pause, `{"blockId":"` + id(2) + `","blockType":"POMODORO","pomodoroIndex":3,"actionId":"` + run + `"`,
			id(2) + " pomodoro-beyond-estimate /blocks/1/pomodoroIndex"},
		{pause, `{"blockId":"` + id(2) + `","blockType":"POMODORO","pomodoroIndex":1,"actionId":"` + run + `"`,
			id(2) + " pomodoro-index-twice /blocks/1/pomodoroIndex"},
	}
}

// refusals sends what breaks rules, and keeps which.
type refusals struct {
	*fixture
	rules map[string]bool
}

// refused requires that a commit is refused with a problem document that has the fault, and that the table stays, to
// the byte, as it was.
func (r refusals) refused(path, body, fault string) {
	r.t.Helper()
	rows := r.foreignRows()
	res := r.want(422, post(path, body))
	r.Equal("validation-failed", res.problem())
	r.Equal("application/problem+json", res.Header().Get("Content-Type"))
	r.Contains(res.faults(), fault, res.Body)
	r.Equal(rows, r.foreignRows(), "%s: nothing is written", fault)
	r.rules[strings.SplitN(fault, " ", 3)[1]] = true
}

func TestProblemOfRules_hasAProblemForEachRuleAndWritesNothing(t *testing.T) {
	t.Parallel()
	r := refusals{setup(t), map[string]bool{}}
	head := r.grow("")
	for _, v := range brokenTrees() {
		body := grown(head)
		if strings.HasSuffix(v.fault, "cycle /nodes/1") {
			body = strings.Replace(body, `}],"edges"`,
				`},{"nodeId":"`+climb+`","nodeType":"MILESTONE","title":"Climb"}],"edges"`, 1)
		}
		require.Contains(t, body, v.old)
		r.refused("/v1/values/revisions", strings.Replace(body, v.old, v.new, 1), v.fault)
	}
	for _, v := range brokenEdits() {
		r.refused("/v1/values/revisions", edits(head, v.new), v.fault)
	}
	for _, v := range brokenPlans() {
		body := planned("")
		require.Contains(t, body, v.old)
		r.refused(planOfDay+"/revisions", strings.Replace(body, v.old, v.new, 1), v.fault)
	}
	r.large(head)
	r.Equal(head, r.want(200, get("/v1/values")).text("revId"))
	r.want(404, get(planOfDay))
	r.buried(head)

	// Text that is none does not come as far as a rule: the document is malformed.
	r.want(400, post("/v1/values/revisions", strings.Replace(grown(head), "Run", "\xff", 1)))
	r.rules["text"], r.rules["message-text"] = true, true
	document, err := os.ReadFile("../../docs/repositories.md")
	require.NoError(t, err)
	for _, rule := range declaredRules(t) {
		require.Contains(t, r.rules, rule, "every rule is broken here once")
		require.Contains(t, string(document), "`"+rule+"`", "every rule is named in the document")
	}
	t.Logf("%d rules", len(r.rules))
}

// large sends more than there may be.
func (r refusals) large(head string) {
	many := func(n int, one string) string {
		return strings.TrimSuffix(strings.Repeat(one+",", n), ",")
	}
	tree := func(nodes, edges string) string {
		return `{"parentRevId":"` + head + `","message":"m","source":"daily_update","nodes":[` + nodes + `],"edges":[` +
			edges + `]}`
	}
	driver := `{"nodeId":"` + health + `","nodeType":"DRIVER","title":"Health"}`
	r.refused("/v1/values/revisions", tree(many(2001, driver), ""), " too-many-nodes /nodes")
	r.refused("/v1/values/revisions", tree(driver, many(8001, edge(health, 1, race))), " too-many-edges /nodes")
	r.refused("/v1/values/revisions", tree(many(200, strings.Replace(driver, "Health", strings.Repeat("a", 6000), 1)), ""),
		" too-much-text /nodes")
	plan := `{"reason":"morning_plan","todos":[` + many(201, `{}`) + `],"blocks":[` + many(201, `{}`) + `]}`
	r.refused(planOfDay+"/revisions", plan, " too-many-todos /todos")
	r.refused(planOfDay+"/revisions", plan, " too-many-blocks /blocks")
}

// buried breaks the rules about what is deleted, and about what only a larger tree has.
func (r refusals) buried(head string) {
	const play, stage = "drv_00000000-0000-4000-9000-000000000014", "node_00000000-0000-4000-9000-000000000015"
	create := func(id, nodeType, parent string) string {
		return `{"op":"create","nodeId":"` + id + `","nodeType":"` + nodeType + `","title":"New","parentId":"` + parent + `"}`
	}
	dead := r.edit(head, create(work, "DRIVER", ""), create(swim, "ACTION", work), create(play, "DRIVER", ""),
		create(stage, "MILESTONE", play),
		`{"op":"delete","nodeId":"`+work+`"}`)
	head = dead.text("revId")
	driven := func(by string) string { return `{"op":"update","nodeId":"` + run + `","driverId":"` + by + `"}` }
	r.refused("/v1/values/revisions", edits(head, driven(work)), run+" driver-deleted /operations/0/driverId")
	r.refused("/v1/values/revisions", edits(head, driven(play)), run+" driver-not-above /operations/0/driverId")
	stone := fmt.Sprintf(`{"nodeId":%q,"nodeType":"ACTION","title":"Older","archived":true,"deletedAt":%q,"driverId":%q}`,
		swim, dead.node(swim)["deletedAt"], work)
	r.refused("/v1/values/revisions", strings.Replace(grown(head), `"nodes":[`, `"nodes":[`+stone+`,`, 1),
		swim+" tombstone-changed /nodes/0")
	nowhere := strings.Replace(grown(head), `"title":"Run","driverId":"`+health,
		`"title":"Run","archived":true,"deletedAt":"2026-03-02T12:00:00Z","driverId":"`+climb, 1)
	r.refused("/v1/values/revisions", nowhere, run+" tombstone-place /nodes/2/driverId")

	r.refused(planOfDay+"/revisions", strings.Replace(planned(""), stretch, swim, 1),
		swim+" todo-action-deleted /todos/1/actionId")
	r.refused(planOfDay+"/revisions", strings.Replace(planned(""), stretch, stage, 1),
		stage+" todo-action-type /todos/1/actionId")
	id := "blk_00000000-0000-4000-9000-000000000001"
	second := `{"blockId":"` + id + `","blockType":"POMODORO","actionId":"` + run + `","pomodoroIndex":1`
	r.refused(planOfDay+"/revisions", strings.Replace(strings.Replace(planned(""), `{"blockType":"BREAK"`, second, 1),
		`"pomodoroIndex":1}`, `"pomodoroIndex":2}`, 1),
		id+" pomodoro-index-order /blocks/1/pomodoroIndex")
	early := strings.Replace(planned(""), `{"blockType":"POMODORO"`, `{"blockId":"`+id+`","blockType":"POMODORO"`, 1)
	r.refused(planOfDay+"/revisions",
		strings.Replace(early, `"startTimeIso":"2026-03-02T09:25:00Z"`, `"startTimeIso":"2026-03-02T09:20:00Z"`, 1),
		id+" pomodoro-overlap /blocks/0")
}

// declaredRules are the names of all rules of the repositories, as their packages declare them.
func declaredRules(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../revision/*/rule.go")
	require.NoError(t, err)
	var rules []string
	for _, file := range append(files, "../revision/change.go") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range regexp.MustCompile(`\bRule\s+=\s+"([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
			rules = append(rules, found[1])
		}
	}
	require.Greater(t, len(rules), 80)
	return rules
}
