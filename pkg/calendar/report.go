package calendar

import (
	"encoding/json"
	"fmt"

	"nexus/pkg/ical"
	"nexus/pkg/text"
)

// maxLeftOut bounds how many parts left out are listed in a report.
const maxLeftOut = 500

// Report gives the outcome of every component of an imported text: created, updated, unchanged, or refused.
type Report struct {
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	// Refused are components that were not imported, LeftOut parts of imported ones that have no place here.
	Refused []Remark `json:"refused"`
	LeftOut []Remark `json:"leftOut"`
	// LeftOutTotal is the number of those: beyond 500 they are only counted.
	LeftOutTotal int `json:"leftOutTotal"`
}

// Remark names something that was not imported, with its place in the text.
type Remark struct {
	Component string `json:"component"`
	UID       string `json:"uid,omitempty"`
	Line      int    `json:"line"`
	Reason    string `json:"reason"`
}

func newReport(m ical.Result) *Report {
	r := &Report{Refused: []Remark{}, LeftOut: []Remark{}, LeftOutTotal: len(m.LeftOut)}
	for _, x := range m.Refused {
		r.Refused = append(r.Refused, Remark(x))
	}
	for _, x := range m.LeftOut[:min(len(m.LeftOut), maxLeftOut)] {
		r.LeftOut = append(r.LeftOut, Remark(x))
	}
	return r
}

func (r *Report) refuse(d ical.Draft, err error) {
	r.Refused = append(r.Refused, Remark{d.Component, clip(d.UID), d.Line, err.Error()})
}

// clip keeps a report short for any input.
func clip(s string) string { return text.Clip(s, 60) }

// JSON is the report as a client gets it.
func (r *Report) JSON() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write the report: %w", err)
	}
	return text, nil
}
