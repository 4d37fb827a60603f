package entity

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// zones memoises the zone database, which never changes while a program runs: loading one zone reads and parses a file.
var zones sync.Map // name -> *time.Location

// LoadZone returns the IANA zone of that name. Local, the empty name, and abbreviations such as EST are refused: they name
// no place, or another one on each machine.
func LoadZone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	if name == "" || name == "Local" || isAbbreviation(name) {
		return nil, fmt.Errorf("%q is no IANA time zone name such as Europe/London", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is no IANA time zone name such as Europe/London", name)
	}
	zones.Store(name, zone)
	return zone, nil
}

// isAbbreviation: the database also has names such as EST, CET and EST5EDT, without a slash and without a lower-case
// letter. UTC is the one that names a zone exactly.
func isAbbreviation(name string) bool {
	return name != "UTC" && !strings.Contains(name, "/") && name == strings.ToUpper(name)
}
