package wallclock

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones are available on a machine without a database
)

// maxNameLength bounds a zone's name; the longest of the database has 32 characters.
const maxNameLength = 64

// nameCharacters are the characters of a name's parts.
const nameCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-_"

// locations memoises the zone database, which never changes while a program runs: loading one zone reads and parses a
// file.
var locations sync.Map // name -> *time.Location

// LoadLocation returns the IANA zone of that name. Local, the empty name, and abbreviations such as EST are refused:
// they name no place, or another one on each machine.
func LoadLocation(name string) (*time.Location, error) {
	zone, err := loadLocation(name)
	if err == nil {
		return zone, nil
	}
	hint := ""
	if meant := SuggestZone(name); meant != "" {
		hint = "; did you mean " + meant + "?"
	}
	return nil, fmt.Errorf("%.*q is no IANA time zone name such as Europe/London%s", maxNameLength, name, hint)
}

var errNoZone = errors.New("no zone has that name")

func loadLocation(name string) (*time.Location, error) {
	if zone, ok := locations.Load(name); ok {
		return zone.(*time.Location), nil
	}
	if !isZoneName(name) {
		return nil, errNoZone
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errNoZone
	}
	locations.Store(name, zone)
	return zone, nil
}

// isZoneName reports whether the text has the form of a name of the database (its file theory, "Timezone
// identifiers"): parts of A-Z a-z 0-9 + - _ that begin with a capital. The loader looks at the machine's copy first,
// which contains other files, too. A file has any number of paths, and each would be cached for ever as a separate
// zone.
func isZoneName(name string) bool {
	if len(name) > maxNameLength || name == "Local" || isAbbreviation(name) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] < 'A' || part[0] > 'Z' || strings.Trim(part, nameCharacters) != "" {
			return false
		}
	}
	return true
}

// isAbbreviation reports whether the name is an abbreviation. The database has names such as EST, CET and EST5EDT,
// without a slash or a lower-case letter. Only UTC names a zone exactly.
func isAbbreviation(name string) bool {
	return name != "UTC" && !strings.Contains(name, "/") && name == strings.ToUpper(name)
}
