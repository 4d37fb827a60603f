package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"nexus/internal/tools/bundle"
)

// code is one package that a program contains.
type code struct {
	ImportPath string
	Dir        string
	Standard   bool
	Root       string // of a package of the standard library: where Go is
	Module     *home
}

// home is the module of a package.
type home struct {
	Path, Dir string
	Main      bool
}

// machines are those for which the command line is built. On others than Linux it contains two modules more.
func machines() []bundle.Machine {
	return []bundle.Machine{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}, {OS: "darwin", Arch: "arm64"}}
}

// shipped lists the packages of all programs that are handed out, by the module in a directory.
func shipped(ctx context.Context, module string) ([]code, error) {
	const fields = "-json=ImportPath,Dir,Standard,Root,Module"
	out, err := list(bundle.Lambda().Go(ctx, module, append([]string{"list", "-deps", fields, "-tags", bundle.Tags},
		bundle.Packages()...)...))
	if err != nil {
		return nil, err
	}
	for _, m := range machines() {
		more, err := list(m.Go(ctx, module, "list", "-deps", fields, "nexus/cmd/nexus"))
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// list runs a command that prints packages.
func list(command *exec.Cmd) ([]code, error) {
	var complaints bytes.Buffer
	command.Stderr = &complaints
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", command, err, bytes.TrimSpace(complaints.Bytes()))
	}
	var out []code
	for packages := json.NewDecoder(bytes.NewReader(text)); ; {
		var c code
		err := packages.Decode(&c)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", command, err)
		}
		out = append(out, c)
	}
}
