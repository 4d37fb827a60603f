package pepper

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"nexus/pkg/durable"
)

// ReadFile reads the pepper of a file. Errors: [fs.ErrNotExist]; [ErrText] for a file with anything else.
func ReadFile(path string) (Pepper, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Pepper{}, err
	}
	p, err := Parse(strings.TrimSuffix(string(text), "\n"))
	if err != nil {
		return Pepper{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// OpenFile reads the pepper of a file, or makes one and writes it, durably and for the file's owner alone. One process
// at a time may open the file. It never replaces a file that it cannot read.
func OpenFile(path string, random io.Reader) (Pepper, error) {
	p, err := ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if p, err = New(random); err != nil {
		return Pepper{}, err
	}
	if err := durable.WriteFile(path, []byte(p.Text()+"\n")); err != nil { // with mode 0600
		return Pepper{}, fmt.Errorf("store the pepper: %w", err)
	}
	return p, nil
}
