package bundle

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
	"time"
)

// Entry is the only file of an archive, which the runtime provided.al2023 starts (AWS Lambda Developer Guide,
// "Building a custom runtime").
const Entry = "bootstrap"

// mode lets any user under which Lambda runs a function start it.
const mode = 0o755

// modified is the time in every archive, so that the time of a build is not part of it: the oldest time of the format.
var modified = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

// Archive writes the program in Lambda's form.
func Archive(out io.Writer, program io.Reader) error {
	archive := zip.NewWriter(out)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	header := zip.FileHeader{Name: Entry, Method: zip.Deflate, Modified: modified}
	header.SetMode(mode)
	entry, err := archive.CreateHeader(&header)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if _, err := io.Copy(entry, program); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}
