package local

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	schedulelocal "nexus/pkg/schedule/local"
)

// schedulePlace is an entry with its place in the list of schedules: by instant, then by name, then by number. The
// number distinguishes entries with the same instant and name: former calls of a schedule, and the schedule.
type schedulePlace struct {
	schedulelocal.Entry
	number int
}

// schedulePlaces assigns the entries their places. Those of one name must be in their order.
func schedulePlaces(all []schedulelocal.Entry) []schedulePlace {
	places := make([]schedulePlace, len(all))
	for i, e := range all {
		places[i].Entry = e
	}
	slices.SortStableFunc(places, schedulePlace.compare)
	for i := range places[min(1, len(places)):] {
		if before, here := places[i], &places[i+1]; before.At.Equal(here.At) && before.Name == here.Name {
			here.number = before.number + 1
		}
	}
	return places
}

func (s schedulePlace) compare(t schedulePlace) int {
	return cmp.Or(s.At.Compare(t.At), cmp.Compare(s.Name, t.Name), cmp.Compare(s.number, t.number))
}

// String returns the place as a cursor.
func (s schedulePlace) String() string {
	return s.At.UTC().Format(time.RFC3339Nano) + "/" + s.Name + "/" + strconv.Itoa(s.number)
}

func parseSchedulePlace(text string) (s schedulePlace, err error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return s, errors.New("no place of a schedule")
	}
	if s.At, err = time.Parse(time.RFC3339Nano, parts[0]); err != nil {
		return s, err
	}
	s.Name = parts[1]
	s.number, err = strconv.Atoi(parts[2])
	return s, err
}
