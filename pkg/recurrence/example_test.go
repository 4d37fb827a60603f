package recurrence_test

import (
	"fmt"
	"time"

	"nexus/pkg/recurrence"
)

// Nine o'clock on Mondays in New York stays nine o'clock when the clocks change; in UTC it becomes an hour earlier.
func ExampleCompile() {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		fmt.Println(err)
		return
	}
	standup, err := recurrence.Compile(recurrence.Spec{
		Rule: "FREQ=WEEKLY;BYDAY=MO;COUNT=4", Start: time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC), Zone: zone,
		EXDates: []string{"20270322"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	march := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	for o := range standup.Each(march, march.AddDate(0, 1, 0)) {
		fmt.Println(o.Wall.Format("Mon 2 Jan 15:04"), "is", o.Start.Format(time.RFC3339))
	}

	_, err = recurrence.Compile(recurrence.Spec{Rule: "FREQ=WEEKLY;BYDAY=MONDAY", Start: march})
	fmt.Println(err)
	// Output:
	// Mon 1 Mar 09:00 is 2027-03-01T14:00:00Z
	// Mon 8 Mar 09:00 is 2027-03-08T14:00:00Z
	// Mon 15 Mar 09:00 is 2027-03-15T13:00:00Z
	// BYDAY: "MONDAY" is not a weekday such as MO, 2TU or -1FR
}
