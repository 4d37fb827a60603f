package account

import "context"

// Survey counts data of a user: what there is, or what an erasure has removed. Both count alike, so that they can be
// compared.
type Survey struct {
	Schedules    int `json:"schedules"`
	Repositories int `json:"repositories"` // rows of the tree and of the plans
	Objects      int `json:"objects"`
	Parked       int `json:"parked"`
	Rows         int `json:"rows"` // in the user's partition
	// Events and Expired are what only a local system keeps: lines of the bus's log, and rows that have expired.
	Events  int `json:"events,omitempty"`
	Expired int `json:"expired,omitempty"`
}

// total returns the sum of all members.
func (s Survey) total() int {
	return s.Schedules + s.Repositories + s.Objects + s.Parked + s.Rows + s.Events + s.Expired
}

// plus returns the sum of two.
func (s Survey) plus(of Survey) Survey {
	return Survey{
		s.Schedules + of.Schedules, s.Repositories + of.Repositories, s.Objects + of.Objects, s.Parked + of.Parked,
		s.Rows + of.Rows, s.Events + of.Events, s.Expired + of.Expired,
	}
}

// Survey counts what an erasure would remove, and changes nothing.
func (e *Eraser) Survey(ctx context.Context, user string) (Survey, error) {
	w := &worker{Eraser: e, row: row{user: user}, id: "survey", isAgain: true, isSurvey: true}
	var s Survey
	for step := 2; step <= lastStep; step++ { // the first ends rows that the last counts
		found, err := w.do(ctx, step)
		if s = s.plus(found); err != nil {
			return s, err
		}
	}
	return s, nil
}
