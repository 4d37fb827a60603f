package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// BinaryVariable is the environment variable that names the engine's binary. It has priority over every other place.
const BinaryVariable = "NEXUS_ENGINE"

// ErrNotInstalled says that the engine's binary is in none of the places where [Find] looks.
var ErrNotInstalled = errors.New(`the local DynamoDB engine is not installed: run "make engine"`)

const binaryName = "dynoxide"

// Find returns the path of the engine's binary: the value of $NEXUS_ENGINE, else bin/dynoxide beside the nearest
// go.mod above the working directory, else the file beside the running executable. It returns [ErrNotInstalled] if
// there is none. A missing file named by the variable is a separate error, because the user meant that file.
func Find() (string, error) {
	if path := os.Getenv(BinaryVariable); path != "" {
		if err := checkExecutable(path); err != nil {
			return "", fmt.Errorf("engine named by %s: %w", BinaryVariable, err)
		}
		return path, nil
	}
	var places []string
	if dir, err := os.Getwd(); err == nil {
		if root, ok := moduleRoot(dir); ok {
			places = append(places, filepath.Join(root, "bin", binaryName))
		}
	}
	if self, err := os.Executable(); err == nil {
		places = append(places, filepath.Join(filepath.Dir(self), binaryName))
	}
	for _, path := range places {
		if checkExecutable(path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w (looked at %s; %s names another place)", ErrNotInstalled, strings.Join(places, " and "),
		BinaryVariable)
}

func moduleRoot(dir string) (string, bool) {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

func checkExecutable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is not an executable file", path)
	}
	return nil
}
