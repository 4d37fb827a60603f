package transfer

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
)

// FileError says that a file is refused, and where: nothing was written.
type FileError struct {
	// Name is the name within the zip file; empty for the file as a whole. Line counts from 1; 0 is the file.
	Name string
	Line int
	// Fields are the broken rules of the line.
	Fields []entity.FieldError
	// Reason is set if there are no Fields.
	Reason string
}

func (e *FileError) Error() string {
	text := "the file"
	if e.Name != "" {
		text = e.Name
	}
	if e.Line > 0 {
		text += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Reason != "" {
		return text + ": " + e.Reason
	}
	return text + ": " + (&entity.ValidationError{Fields: e.Fields}).Error()
}

func refuse(name string, line int, format string, args ...any) *FileError {
	return &FileError{Name: name, Line: line, Reason: fmt.Sprintf(format, args...)}
}

// archiveFile is a file that was opened: the entries by their names, all of the form and all listed in the manifest.
type archiveFile struct {
	manifest Manifest
	// digest identifies the content: it is that of the manifest, which has those of all files.
	digest  string
	listed  map[string]File
	entries map[string]*zip.File
}

// open reads the directory and the manifest of a zip file. Nothing is ever unpacked under a name of it.
func open(file io.ReaderAt, size int64) (*archiveFile, error) {
	z, err := zip.NewReader(file, size)
	if err != nil {
		return nil, refuse("", 0, "is no zip file: %v", err)
	}
	if len(z.File) > maxFiles {
		return nil, refuse("", 0, "has more than %d files", maxFiles)
	}
	a := &archiveFile{listed: map[string]File{}, entries: map[string]*zip.File{}}
	for _, f := range z.File {
		switch {
		case !isOfForm(f.Name):
			return nil, refuse("", 0, "has %.100q, which is no file of an export", f.Name)
		case a.entries[f.Name] != nil:
			return nil, refuse(f.Name, 0, "is there twice")
		}
		a.entries[f.Name] = f
	}
	if err := a.readManifest(); err != nil {
		return nil, err
	}
	return a, nil
}

// isOfForm reports whether an export has files of the name.
func isOfForm(name string) bool {
	switch dir, rest, _ := strings.Cut(name, "/"); dir + "/" {
	case manifestFile + "/", settingsFile + "/", goneFile + "/":
		return rest == ""
	case itemsDir, archiveDir:
		return isNumber(strings.TrimSuffix(rest, lines)) && strings.HasSuffix(rest, lines)
	case valuesDir:
		return isHistory(rest)
	case plansDir:
		day, rest, _ := strings.Cut(rest, "/")
		return (repository.Address{User: "u", Date: day}).Check() == nil && day != "" && isHistory(rest)
	case readableDir:
		return true // nothing of them is written
	}
	return false
}

func isNumber(text string) bool {
	return len(text) >= 4 && len(text) <= 9 && strings.Trim(text, "0123456789") == ""
}

func isHistory(name string) bool {
	revID, ok := strings.CutSuffix(name, lines)
	return name == logFile || ok && repository.CheckRevisionID(revID) == nil
}

// readManifest reads the manifest and compares it with the directory.
func (a *archiveFile) readManifest() error {
	entry := a.entries[manifestFile]
	if entry == nil {
		return refuse(manifestFile, 0, "is missing")
	}
	r, err := entry.Open()
	if err != nil {
		return refuse(manifestFile, 0, "%v", err)
	}
	defer func() { _ = r.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	switch {
	case err != nil:
		return refuse(manifestFile, 0, "%v", err)
	case len(text) > maxManifest:
		return refuse(manifestFile, 0, "has more than %d bytes", maxManifest)
	}
	var form struct{ Form int }
	if err := json.Unmarshal(text, &form); err != nil {
		return refuse(manifestFile, 0, "%v", err)
	}
	if form.Form != Form {
		return refuse(manifestFile, 0, "is of form %d; this release reads form %d", form.Form, Form)
	}
	if err := decode(text, &a.manifest); err != nil {
		return refuse(manifestFile, 0, "%v", err)
	}
	sum := sha256.Sum256(text)
	a.digest = hex.EncodeToString(sum[:])
	return a.compare()
}

func (a *archiveFile) compare() error {
	for _, f := range a.manifest.Files {
		switch {
		case a.entries[f.Name] == nil:
			return refuse(f.Name, 0, "is in the manifest and not in the file")
		case f.Name == manifestFile || a.listed[f.Name].Name != "":
			return refuse(manifestFile, 0, "lists %s twice, or itself", f.Name)
		}
		a.listed[f.Name] = f
	}
	for name := range a.entries {
		if name != manifestFile && a.listed[name].Name == "" {
			return refuse(name, 0, "is not in the manifest")
		}
	}
	return nil
}

// names returns the names of the files in a folder, in their order.
func (a *archiveFile) names(dir string) []string {
	var names []string
	for name := range a.listed {
		if strings.HasPrefix(name, dir) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// checkReadable compares the files for readers with the manifest. Nothing of them is written.
func (a *archiveFile) checkReadable() error {
	for _, name := range a.names(readableDir) {
		listed := a.listed[name]
		entry, err := a.entries[name].Open()
		if err != nil {
			return refuse(name, 0, "%v", err)
		}
		content := &summed{from: io.LimitReader(entry, listed.Bytes+1), sum: sha256.New()}
		_, err = io.Copy(io.Discard, content)
		if err = errors.Join(err, entry.Close()); err != nil {
			return refuse(name, 0, "%v", err)
		}
		if err := content.compare(listed, listed.Lines); err != nil {
			return err
		}
	}
	return nil
}

// ReadManifest reads the manifest of a file that [Service.Export] wrote. It checks no other file.
func ReadManifest(file io.ReaderAt, size int64) (Manifest, error) {
	a, err := open(file, size)
	if err != nil {
		return Manifest{}, err
	}
	return a.manifest, nil
}

// days returns the days of which the file has plans, in their order.
func (a *archiveFile) days() []string {
	var days []string
	for _, name := range a.names(plansDir) {
		day, _, _ := strings.Cut(strings.TrimPrefix(name, plansDir), "/")
		if len(days) == 0 || days[len(days)-1] != day {
			days = append(days, day)
		}
	}
	return days
}

// numberedLine is a line with its number, counted from 1.
type numberedLine struct {
	file string
	n    int
	text []byte
}

func (l numberedLine) refuse(format string, args ...any) *FileError {
	return refuse(l.file, l.n, format, args...)
}

// lines reads the lines of the files; a text is valid until the next. Each file is compared with the manifest at its
// end, and read no further than the manifest says. The error comes last.
func (a *archiveFile) lines(names ...string) iter.Seq2[numberedLine, error] {
	return func(yield func(numberedLine, error) bool) {
		for _, name := range names {
			goesOn, err := a.linesOf(name, func(l numberedLine) bool { return yield(l, nil) })
			if err != nil {
				yield(numberedLine{}, err)
				return
			}
			if !goesOn {
				return
			}
		}
	}
}

func (a *archiveFile) linesOf(name string, yield func(numberedLine) bool) (goesOn bool, err error) {
	listed, ok := a.listed[name]
	if !ok {
		return false, refuse(name, 0, "is missing")
	}
	entry, err := a.entries[name].Open()
	if err != nil {
		return false, refuse(name, 0, "%v", err)
	}
	defer func() { _ = entry.Close() }() // it was only read
	content := &summed{from: io.LimitReader(entry, listed.Bytes+1), sum: sha256.New()}
	in := bufio.NewReaderSize(content, int(min(maxLine, max(listed.Bytes, 0)+2))) // which the limited content never fills
	n := 0
	for {
		text, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return false, refuse(name, n+1, "has more than %d bytes", maxLine)
		case errors.Is(err, io.EOF) && len(text) == 0:
			return true, content.compare(listed, n)
		case errors.Is(err, io.EOF):
			return false, refuse(name, n+1, "does not end with a line feed")
		case err != nil:
			return false, refuse(name, n+1, "%v", err)
		}
		n++
		if !yield(numberedLine{name, n, text[:len(text)-1]}) {
			return false, nil
		}
	}
}

// summed is a reader that sums up what was read.
type summed struct {
	from io.Reader
	sum  hash.Hash
	n    int64
}

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.sum.Write(p[:n])
	s.n += int64(n)
	return n, err
}

// compare compares a file that was read to its end with the manifest.
func (s *summed) compare(listed File, n int) error {
	if s.n != listed.Bytes || n != listed.Lines || hex.EncodeToString(s.sum.Sum(nil)) != listed.SHA256 {
		return refuse(listed.Name, 0, "is not the file that the manifest lists: its bytes, lines or SHA-256 differ")
	}
	return nil
}
