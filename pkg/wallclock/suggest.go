package wallclock

import "strings"

// SuggestZone returns the IANA zone that the client means by another spelling: a Windows name, or an IANA name in
// other letters, such as europe/berlin. It returns "" if the text names no zone in any spelling.
func SuggestZone(name string) string {
	if len(name) > maxNameLength {
		return ""
	}
	if zone, ok := WindowsZone(name); ok {
		return zone
	}
	for _, spelling := range []string{inCapitals(name, smallWords), inCapitals(name, ""), strings.ToUpper(name)} {
		if zone, err := loadLocation(spelling); err == nil {
			return zone.String()
		}
	}
	return ""
}

// smallWords stay in small letters within a name: America/Port_of_Spain, America/Port-au-Prince, Africa/Dar_es_Salaam.
const smallWords = " of au es "

// inCapitals capitalises each word of the name except the small ones.
func inCapitals(name, small string) string {
	out := []byte(strings.ToLower(strings.ReplaceAll(name, " ", "_")))
	for i := 0; i < len(out); {
		end := i
		for end < len(out) && out[end] != '/' && out[end] != '_' && out[end] != '-' {
			end++
		}
		word := string(out[i:end])
		if word != "" && 'a' <= word[0] && word[0] <= 'z' && !strings.Contains(small, " "+word+" ") {
			out[i] -= 'a' - 'A'
		}
		i = end + 1
	}
	return string(out)
}
