// Package plan is the daily plan: the to-dos of a day in their order, and its blocks of time, as a versioned repository
// of package revision for each day.
//
// It promises that a committed plan obeys its rules, that to-dos are about actions of the user's values tree, that a
// rollover which is repeated changes nothing, and that completing an action shows in plan and tree together or in
// neither.
//
// It must never take a to-do from the plan that it is rolled over from: that day's history stays what it was.
package plan
