package dir

import (
	"strings"

	"nexus/pkg/blob"
)

// A file's name is the object's, changed in two ways with characters that names do not have. A folder ends with a plus
// sign, so that the objects a and a/b can both exist. A capital letter becomes a comma and the small letter, so that
// User and user are two folders on every file system.
const (
	folderMark  = '+'
	capitalMark = ','
)

// encode returns the file's path below the store's directory.
func encode(name string) string {
	var b strings.Builder
	b.WriteString(objects)
	b.WriteByte('/')
	for i := range len(name) {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			b.WriteByte(capitalMark)
			c += 'a' - 'A'
		case c == '/':
			b.WriteByte(folderMark)
		}
		b.WriteByte(c)
	}
	return b.String()
}

// decode returns the name of the object of a file's path. For a folder's path it returns the beginning of the names in
// it, with its slash. It is false for files that encode does not make, such as those of other programs.
func decode(file string, folder bool) (name string, ours bool) {
	if file == objects {
		return "", folder
	}
	below, marked := strings.TrimPrefix(file, objects+"/"), ""
	if folder {
		below, marked = strings.TrimSuffix(below, string(folderMark)), string(folderMark)
	}
	var b strings.Builder
	for i := 0; i < len(below); i++ {
		c := below[i]
		switch {
		case c == folderMark:
			continue
		case c == capitalMark && i+1 < len(below):
			i++
			c = below[i] - ('a' - 'A')
		}
		b.WriteByte(c)
	}
	name = b.String()
	// The encoding of the result shows anything that was skipped or misread above.
	if blob.CheckName(name) != nil || encode(name)+marked != file {
		return "", false
	}
	if folder {
		name += "/"
	}
	return name, true
}
