package ical

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nexus/pkg/wallclock"
)

// zoneMap finds the IANA zone of each TZID of one calendar.
type zoneMap struct {
	definitions map[string]*Component
	// calendarZone is the zone of X-WR-TIMEZONE: the likeliest of zones with equal rules.
	calendarZone string
	used         map[string]yearSpan
	answers      map[string]zoneAnswer
	// notes say how malformed zone names were read.
	notes []string
}

type zoneAnswer struct {
	name string
	err  error
}

// yearSpan is the years in which a calendar has times of a zone.
type yearSpan struct{ first, last int }

// aroundAnyUse is used for a zone without a readable time: years whose rules are still in force nearly everywhere.
var aroundAnyUse = yearSpan{2019, 2022}

func newZoneMap(calendar *Component) *zoneMap {
	z := &zoneMap{definitions: map[string]*Component{}, used: map[string]yearSpan{}, answers: map[string]zoneAnswer{}}
	for _, c := range calendar.Children {
		if c.Name != "VTIMEZONE" {
			z.note(c)
			continue
		}
		if id := cleanID(c.Text("TZID")); z.definitions[id] == nil && len(z.definitions) < maxZones {
			z.definitions[id] = c
		}
	}
	z.calendarZone, _ = zoneNamed(cleanID(calendar.Text("X-WR-TIMEZONE")))
	return z
}

// note records in which years a component has times of which zone. A rule continues for some years.
func (z *zoneMap) note(c *Component) {
	ahead := 0
	if c.Get("RRULE") != nil {
		ahead = 2
	}
	for i := range c.Properties {
		p := &c.Properties[i]
		id := cleanID(p.Param("TZID"))
		if id == "" || len(p.Value) < 4 {
			continue
		}
		year, err := strconv.Atoi(strings.TrimSpace(p.Value)[:min(4, len(strings.TrimSpace(p.Value)))])
		if err != nil || year < 1900 || year > 2199 {
			continue
		}
		span, seen := z.used[id]
		if !seen {
			span = yearSpan{year, year}
		}
		z.used[id] = yearSpan{min(span.first, year), max(span.last, year+ahead)}
	}
	for _, child := range c.Children {
		z.note(child)
	}
}

func cleanID(tzid string) string { return strings.Trim(strings.TrimSpace(tzid), `"`) }

// name returns the IANA name of a TZID, or an error that says why there is none. The name has priority over the
// VTIMEZONE: a program that names a zone means its rules, including those that the file's writer did not know yet.
func (z *zoneMap) name(tzid string) (string, error) {
	id := cleanID(tzid)
	if answer, ok := z.answers[id]; ok {
		return answer.name, answer.err
	}
	if len(z.answers) == maxZoneNames {
		return "", fmt.Errorf("the zone %q: the calendar names more than %d zones", clip(id), maxZoneNames)
	}
	name, err := z.find(id)
	z.answers[id] = zoneAnswer{name, err}
	return name, err
}

func (z *zoneMap) find(id string) (string, error) {
	if name, ok := zoneNamed(id); ok {
		return name, nil
	}
	if strings.Contains(id, "/") {
		if name := wallclock.SuggestZone(id); name != "" {
			return z.spoken(id, name), nil
		}
	}
	definition := z.definitions[id]
	if definition == nil {
		if name, ok := offsetNamed(id); ok {
			return z.spoken(id, name), nil
		}
		if name, ok := displayNamed(id); ok {
			return z.spoken(id, name), nil
		}
		return "", fmt.Errorf("the zone %q is not known, and no VTIMEZONE describes it", clip(id))
	}
	// X-LIC-LOCATION is libical's, X-TZINFO is Mozilla's; TZID-ALIAS-OF is RFC 7808 §7.2.
	for _, property := range []string{"X-LIC-LOCATION", "TZID-ALIAS-OF", "X-TZINFO"} {
		text, _, _ := strings.Cut(cleanID(definition.Text(property)), "[")
		if name, ok := zoneNamed(text); ok {
			return name, nil
		}
	}
	list, err := readZone(definition)
	if err != nil {
		return "", fmt.Errorf("the zone %q is not known, and its VTIMEZONE cannot be read: %w", clip(id), err)
	}
	span, ok := z.used[id]
	if !ok {
		span = aroundAnyUse
	}
	if name, ok := z.match(id, list, span); ok {
		return name, nil
	}
	return "", fmt.Errorf("the zone %q is not known, and its VTIMEZONE has the rules of no zone that is", clip(id))
}

// longestZoneName is more than any name of a zone, prefixed or not, that a program writes.
const longestZoneName = 200

// zoneNamed reads a name of any kind that programs write: of the zone database, the same after a prefix such as
// /mozilla.org/20050126_1/Europe/Berlin (RFC 5545 §3.8.3.1 begins global names with a slash), of Windows, or an alias.
func zoneNamed(id string) (string, bool) {
	if id == "" || len(id) > longestZoneName {
		return "", false
	}
	if name, ok := zoneAliases[strings.ToLower(id)]; ok {
		return name, true
	}
	if name, ok := wallclock.WindowsZone(id); ok {
		return name, true
	}
	rest, more := id, true
	for range maxZoneParts {
		if !more {
			break
		}
		// The last part alone, such as a city, names no zone.
		if rest == id || strings.Contains(rest, "/") || rest == "UTC" {
			if _, err := wallclock.LoadLocation(rest); err == nil {
				return rest, true
			}
		}
		_, rest, more = strings.Cut(rest, "/")
	}
	return "", false
}

// likeliestZones returns all zones among which rules are looked up.
func likeliestZones() []string {
	var zones []string
	for _, zone := range wallclock.WindowsZones() {
		zones = append(zones, zone)
	}
	slices.Sort(zones)
	return slices.Concat(preferredZones, zones)
}

// hints returns the zones that a name mentions, as (UTC+01:00) Amsterdam, Berlin, Bern mentions Berlin, and the
// calendar's own.
func (z *zoneMap) hints(id string) []string {
	var names []string
	lower := strings.ToLower(id)
	for _, name := range likeliestZones() {
		city := strings.ToLower(strings.ReplaceAll(name[strings.LastIndexByte(name, '/')+1:], "_", " "))
		if strings.Contains(lower, city) && !strings.HasPrefix(name, "Etc/") {
			names = append(names, name)
		}
	}
	if z.calendarZone != "" {
		names = append(names, z.calendarZone)
	}
	return names
}
