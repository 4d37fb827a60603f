package account

import "context"

// Survey counts the data of a user.
type Survey struct {
	Schedules    int `json:"schedules"`
	Repositories int `json:"repositories"` // rows of the tree and of the plans
	Objects      int `json:"objects"`
	Parked       int `json:"parked"`
	Rows         int `json:"rows"` // in the user's partition
}

// Survey counts what an erasure would remove, and changes nothing.
func (e *Eraser) Survey(ctx context.Context, user string) (Survey, error) {
	w := &worker{Eraser: e, row: row{user: user}, id: "survey", isAgain: true, isSurvey: true}
	var s Survey
	counts := []*int{new(int), &s.Schedules, &s.Repositories, &s.Objects, &s.Parked, &s.Rows}
	for step := 1; step <= lastStep; step++ {
		n, err := w.do(ctx, step)
		if err != nil {
			return s, err
		}
		*counts[step-1] = n
	}
	return s, nil
}
