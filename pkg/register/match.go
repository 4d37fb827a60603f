package register

import (
	"slices"
	"strings"
	"sync"
)

// Find returns the line of something at a place: of a row by its sort key, of anything else by its name.
func Find(place Place, name string) (Line, bool) {
	if line := find(place, name); line != nil {
		return *line, true
	}
	return Line{}, false
}

// FindRow returns the line of a row.
func FindRow(pk, sk string) (Line, bool) {
	if line := findRow(pk, sk); line != nil {
		return *line, true
	}
	return Line{}, false
}

// find returns the line of [Find]; nil for none.
func find(place Place, name string) *Line {
	for _, line := range known()[place] {
		if fits(line.Shape, name, separator(place)) {
			return line
		}
	}
	return nil
}

// findRow returns the line of [FindRow]; nil for none.
func findRow(pk, sk string) *Line {
	for _, place := range [...]Place{Items, Repositories, Tree, Plan, PlanSnapshot, Account, Form, Pepper} {
		if fits(string(place), pk, "#") {
			return find(place, sk)
		}
	}
	return nil
}

// Prefixes returns what begins the names of everything of a user at a place whose lines are [ByList]: for each line its
// shape up to the first part that is not the user's. digest returns the user's part of the name of a schedule. A line
// of parked records has one prefix for each consumer.
func Prefixes(place Place, user string, digest func(user string) string, consumers ...string) []string {
	var out []string
	add := func(shape string) {
		shape = strings.ReplaceAll(strings.ReplaceAll(shape, "<u>", user), "<11 of the user's digest>", digest(user))
		prefix, _, _ := strings.Cut(shape, "<")
		// The last part of the shape may begin with a mark of its own, which other lines of the folder lack.
		if prefix = prefix[:strings.LastIndexAny(prefix, "/-")+1]; !slices.Contains(out, prefix) {
			out = append(out, prefix)
		}
	}
	for _, line := range known()[place] {
		switch {
		case line.Erasure != ByList:
		case strings.Contains(line.Shape, "<consumer>"):
			for _, consumer := range consumers {
				add(strings.ReplaceAll(line.Shape, "<consumer>", consumer))
			}
		default:
			add(line.Shape)
		}
	}
	return out
}

// OwnerOf returns the user in the name of an object whose line says that the name has one.
func OwnerOf(object string) (user string, ok bool) {
	line, known := Find(placeOf(object), object)
	if !known || line.Owner != ByName {
		return "", false
	}
	parts := strings.Split(object, "/")
	for i, part := range strings.Split(line.Shape, "/") {
		if part == "<u>" {
			return parts[i], true
		}
	}
	return "", false
}

// Components returns the number of components behind the prefix of a row in a user's partition that is no entity's;
// false for any other prefix.
func Components(prefix string) (n int, ok bool) {
	n, ok = components()[prefix]
	return n, ok
}

// IsEntity reports whether it is the prefix of the rows of an entity type.
func IsEntity(prefix string) bool { return entityTypes()[prefix] }

var (
	lines = sync.OnceValue(func() (out []*Line) {
		for _, line := range Lines() {
			out = append(out, &line)
		}
		return out
	})
	known = sync.OnceValue(func() map[Place][]*Line {
		out := map[Place][]*Line{}
		for _, line := range lines() {
			out[line.Place] = append(out[line.Place], line)
		}
		return out
	})
	entityTypes = sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for _, line := range entities() {
			prefix, _, _ := strings.Cut(line.Shape, "#")
			out[prefix] = true
		}
		return out
	})
	components = sync.OnceValue(func() map[string]int {
		out := map[string]int{}
		for _, line := range derived() {
			prefix, rest, _ := strings.Cut(line.Shape, "#")
			out[prefix] = strings.Count(rest, "#") + 1
		}
		return out
	})
)

// separator returns what separates the components of names at the place; empty if a name is one component.
func separator(place Place) string {
	switch place {
	case Archive, Parking, Snapshots:
		return "/"
	case Scheduler, Bus, Queue, Stream, Log, Backup:
		return ""
	}
	return "#"
}

// fits reports whether a name has a shape.
func fits(shape, name, separator string) bool {
	if separator == "" {
		return fitsOne(shape, name)
	}
	if shape[0] != 'u' && shape[0] != '<' && (name == "" || shape[0] != name[0]) {
		return false // as most shapes do that are compared
	}
	for {
		want, wants, more := strings.Cut(shape, separator)
		if strings.HasSuffix(want, "…>") {
			return name != ""
		}
		is, rest, goesOn := strings.Cut(name, separator)
		if !fitsOne(want, is) || more != goesOn {
			return false
		}
		if !more {
			return true
		}
		shape, name = wants, rest
	}
}

// fitsOne does it for one component.
func fitsOne(shape, name string) bool {
	if shape == "u" {
		return name != ""
	}
	before, _, varies := strings.Cut(shape, "<")
	if !varies {
		return shape == name
	}
	after := shape[strings.LastIndex(shape, ">")+1:]
	return len(name) > len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}

// Walk collects what a suite finds at all places. It is safe for concurrent use.
type Walk struct {
	mu      sync.Mutex
	found   map[*Line]bool
	strange []string
}

// Row takes in the key of a row, and reports whether a line matches it.
func (w *Walk) Row(pk, sk string) bool {
	return w.take(findRow(pk, sk), pk, sk)
}

// Object takes in the name of an object, in whichever bucket, and reports whether a line matches it.
func (w *Walk) Object(name string) bool {
	return w.Name(placeOf(name), name)
}

// placeOf returns the bucket of an object.
func placeOf(name string) Place {
	switch {
	case strings.HasPrefix(name, parked), strings.HasPrefix(name, failed):
		return Parking
	case strings.HasPrefix(name, snapped):
		return Snapshots
	}
	return Archive
}

// Name takes in something else at a place, and reports whether a line matches it.
func (w *Walk) Name(place Place, name string) bool {
	return w.take(find(place, name), string(place), name)
}

func (w *Walk) take(line *Line, where, name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if line == nil {
		w.strange = append(w.strange, where+": "+name)
		return false
	}
	if w.found == nil {
		w.found = map[*Line]bool{}
	}
	w.found[line] = true
	return true
}

// Strange returns what no line matches.
func (w *Walk) Strange() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.strange)
}

// Found returns the lines of which it found something, in their order.
func (w *Walk) Found() []Line {
	w.mu.Lock()
	defer w.mu.Unlock()
	return those(func(line *Line) bool { return w.found[line] })
}

// Missing returns the lines that name the suite and of which it found nothing.
func (w *Walk) Missing(suite Suite) []Line {
	w.mu.Lock()
	defer w.mu.Unlock()
	return those(func(line *Line) bool { return line.Suite == suite && !w.found[line] })
}

func those(are func(*Line) bool) (out []Line) {
	for _, line := range lines() {
		if are(line) {
			out = append(out, *line)
		}
	}
	return out
}
