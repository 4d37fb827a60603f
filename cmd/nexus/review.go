package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/probe"
)

// review holds the subjects of the week's last chapters: the values tree, and the plan of a day.
type review struct {
	health, race, running, shoes string    // nodes
	reviewed, finished           string    // revisions of the tree: the review's, and that of the completion
	planDate, followingDate      time.Time // midnight UTC of the day, and of the one after
	finishedAt                   time.Time // when the completion was committed
}

const valuesPath = "/v1/values"

func planPath(day time.Time) string { return "/v1/plans/" + day.Format(time.DateOnly) }

// weeklyReview builds a values tree and commits it.
func (s *story) weeklyReview() {
	s.chapter("The weekly review")
	s.health, s.race = "drv_"+uuid.NewString(), "mil_"+uuid.NewString()
	s.running, s.shoes = "act_"+uuid.NewString(), "act_"+uuid.NewString()
	node := func(id, nodeType, title string) object {
		s.titles[id] = title
		return object{"nodeId": id, "nodeType": nodeType, "title": title}
	}
	action := func(id, title string) object {
		n := node(id, "ACTION", title)
		n["driverId"] = s.health
		return n
	}
	edge := func(parent string, order int, child string) object {
		return object{"parentNodeId": parent, "order": order, "childNodeId": child}
	}
	made := s.create(valuesPath+"/revisions", object{
		"message": "What matters, and what leads there", "source": "weekly_review",
		"nodes": []object{
			node(s.health, "DRIVER", "Be in good health"), node(s.race, "MILESTONE", "Run ten kilometres"),
			action(s.running, "Run five kilometres"), action(s.shoes, "Buy shoes"),
		},
		"edges": []object{edge(s.health, 1, s.race), edge(s.race, 1, s.shoes), edge(s.race, 2, s.running)},
	})
	s.reviewed = made.Str("revId")
	s.say("A driver, a milestone below it, and two actions are committed as one revision.")
	s.expect("nodes in the tree", len(s.get(valuesPath).List("nodes")), 4)
	s.expect("children of the milestone", s.children(s.race), []string{"Buy shoes", "Run five kilometres"})
	s.say("A commit that breaks a rule writes nothing, and is told what is wrong.")
	refused := s.send(http.StatusUnprocessableEntity, http.MethodPost, valuesPath+"/revisions", object{
		"parentRevId": s.reviewed, "message": "A loop", "source": "weekly_review",
		"operations": []object{{"op": "complete", "nodeId": s.health}},
	}, -1)
	for _, e := range refused.List("errors") {
		s.expect("rule, and the node that breaks it", e.Str("rule")+", "+s.titles[e.Str("subject")],
			"completed-driver, Be in good health")
	}
	s.expect("the present revision is still the first", s.get(valuesPath).Str("revId") == s.reviewed, true)
}

// children returns the titles of a node's present children.
func (s *story) children(node string) []string { return s.childrenAt(valuesPath, node) }

// childrenAt returns those in the revision at the path.
func (s *story) childrenAt(path, node string) []string {
	var out []string
	for _, edge := range s.get(path + "/nodes/" + node + "/children").List("items") {
		out = append(out, s.titles[edge.Str("childNodeId")])
	}
	return out
}

// dayPlanned plans a day and completes an action in it.
func (s *story) dayPlanned() {
	s.chapter("A day is planned, and half of it done")
	now := s.now()
	s.planDate = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	s.followingDate = s.planDate.AddDate(0, 0, 1)
	at := func(hour, minute int) string {
		return stamp(s.planDate.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute))
	}
	s.create(planPath(s.planDate)+"/revisions", object{
		"reason": "morning_plan",
		"todos": []object{
			{"actionId": s.shoes, "classification": "urgent", "estimatedPomodoros": 1},
			{"actionId": s.running, "classification": "important", "estimatedPomodoros": 2},
		},
		"blocks": []object{
			{"blockType": "POMODORO", "startTimeIso": at(9, 0), "endTimeIso": at(9, 25), "actionId": s.shoes,
				"pomodoroIndex": 1},
			{"blockType": "BREAK", "startTimeIso": at(9, 25), "endTimeIso": at(9, 30)},
		},
	})
	s.expect("to-dos", s.todos(s.planDate), []string{"Buy shoes (urgent)", "Run five kilometres (important)"})
	done := s.post(planPath(s.planDate)+"/complete", object{"actionId": s.shoes})
	s.say("The shoes are bought: done in the plan and in the tree, in one transaction.")
	s.expect("to-dos left", s.todos(s.planDate), []string{"Run five kilometres (important)"})
	tree := s.get(valuesPath)
	s.finished, s.finishedAt = tree.Str("revId"), tree.Time("revTs")
	s.expect("the tree's present revision is that of the completion",
		s.finished == done.Object("values").Str("revId"), true)
	s.expect("completed in the tree", probe.Titles(completed(tree)), []string{"Buy shoes"})
	again := s.post(planPath(s.planDate)+"/complete", object{"actionId": s.shoes})
	s.expect("a second time changes plan and tree", fmt.Sprint(again["planChanged"], " ", again["valuesChanged"]),
		"false false")
}

// todos returns a plan's open to-dos in their order.
func (s *story) todos(day time.Time) []string {
	var out []string
	for _, t := range s.get(planPath(day)).List("todos") {
		if t.Str("completedAt") == "" {
			out = append(out, s.titles[t.Str("actionId")]+" ("+t.Str("classification")+")")
		}
	}
	return out
}

func completed(tree object) []object {
	var out []object
	for _, n := range tree.List("nodes") {
		if n.Str("completedAt") != "" {
			out = append(out, n)
		}
	}
	return out
}

// rolledOver carries the rest of the day over, and restores yesterday's tree.
func (s *story) rolledOver() {
	s.chapter("The morning after")
	s.moveTo(s.now().AddDate(0, 0, 1))
	over := s.post(planPath(s.planDate)+"/rollover", nil)
	s.expect("the run is carried over", fmt.Sprint(over["carried"]) == "["+s.running+"]", true)
	s.expect("to-dos of the new day", s.todos(s.followingDate), []string{"Run five kilometres (important)"})
	s.expect("a second time carries", s.post(planPath(s.planDate)+"/rollover", nil)["carried"], []any{})
	s.say("In a bad mood, the milestone is deleted; on second thoughts, one looks at yesterday, and brings it back.")
	remove := object{
		"parentRevId": s.finished, "message": "No running", "source": "daily_update",
		"operations": []object{{"op": "delete", "nodeId": s.race}},
	}
	removed := s.create(valuesPath+"/revisions", remove).Str("revId")
	s.expect("children of the driver", s.children(s.health), []string(nil))
	s.expect("its children as they were", s.childrenAt(valuesPath+"/revisions/"+s.finished, s.health),
		[]string{"Run ten kilometres"})
	late := s.send(http.StatusConflict, http.MethodPost, valuesPath+"/revisions", remove, -1)
	s.expect("who commits on what is no longer the head is told which is", late.Str("currentRevId") == removed, true)
	yesterday := s.get(valuesPath + "?" + url.Values{"at": {stamp(s.finishedAt)}}.Encode())
	s.expect("yesterday's tree is that of the completion", yesterday.Str("revId") == s.finished, true)
	diff := s.get(valuesPath + "/diff?" + url.Values{"from": {s.finished}, "to": {removed}}.Encode())
	s.expect("nodes that became tombstones, and edges that went",
		fmt.Sprint(len(diff.List("changed")), " and ", len(diff.Object("removed").List("edges"))), "3 and 3")
	back := s.create(valuesPath+"/rollback", object{"parentRevId": removed, "revId": s.finished})
	s.expect("the tree is yesterday's, node for node and edge for edge", same(back, yesterday, "nodes", "edges"), true)
	s.expect("where the revisions came from, the newest first", s.sources(),
		[]string{"rollback", "daily_update", "completion", "weekly_review"})
	s.waitUntilIdle()
	s.expect("records that anybody could not process", len(s.get("/dev/parked").List("items")), 0)
}

func (s *story) sources() []string {
	var out []string
	for _, entry := range s.get(valuesPath + "/revisions").List("items") {
		out = append(out, entry.Str("source"))
	}
	return out
}

// same reports whether members of two answers are equal.
func same(a, b object, members ...string) bool {
	for _, name := range members {
		x, errX := json.Marshal(a[name])
		y, errY := json.Marshal(b[name])
		if errX != nil || errY != nil || string(x) != string(y) {
			return false
		}
	}
	return true
}
