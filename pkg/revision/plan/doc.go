// Package plan is the daily plan: the to-dos of a day in their order, and its blocks of time, as a versioned
// repository of package revision for each day.
//
// It promises:
//   - A committed plan obeys its rules.
//   - To-dos refer to actions of the user's values tree.
//   - A repeated rollover changes nothing.
//   - Completing an action appears in plan and tree together or in neither.
//
// It must never remove a to-do from the plan that is rolled over: that day's history is unchanged.
package plan
