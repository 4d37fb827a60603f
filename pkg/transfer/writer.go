package transfer

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
)

// writer writes the files of an archive one after the other, and lists them in the manifest.
type writer struct {
	zip      *zip.Writer
	manifest Manifest
	entry    io.Writer // of the file that is open; nil if none is
	sum      hash.Hash
	open     File
}

// line appends a line to a file; an empty one only makes the file.
func (w *writer) line(name string, line []byte) error {
	if len(line) == 0 {
		return w.append(name, nil)
	}
	if err := w.append(name, line); err != nil {
		return err
	}
	w.open.Lines++
	return w.append(name, []byte("\n"))
}

// append appends to a file. Files are not interleaved.
func (w *writer) append(name string, text []byte) error {
	if w.open.Name != name {
		w.close()
		entry, err := w.zip.Create(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		w.entry, w.sum, w.open = entry, sha256.New(), File{Name: name}
	}
	w.sum.Write(text)
	n, err := w.entry.Write(text)
	w.open.Bytes += int64(n)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// file writes a whole file.
func (w *writer) file(name string, text []byte) error {
	err := w.append(name, text)
	w.close()
	return err
}

// close lists the file that is open.
func (w *writer) close() {
	if w.open.Name != "" {
		w.open.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
		w.manifest.Files = append(w.manifest.Files, w.open)
		w.open = File{}
	}
}

// end writes the manifest, which is the last file, and the directory of the archive.
func (w *writer) end() error {
	w.close()
	entry, err := w.zip.Create(manifestFile)
	if err == nil {
		encoder := json.NewEncoder(entry)
		encoder.SetIndent("", " ")
		err = encoder.Encode(w.manifest)
	}
	if err == nil {
		err = w.zip.Close()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", manifestFile, err)
	}
	return nil
}
