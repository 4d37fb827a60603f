// Package bundle turns functions into what is deployed: a program for Lambda's machines, and an archive with nothing
// but it.
//
// It promises that the same source, built by the same version of Go, gives the same bytes wherever the checkout lies
// and whatever stands in the environment, so that a deployment replaces only what has changed. It must never put
// anything else into an archive: a function is configured by its environment alone.
package bundle

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// Machine is what a program is made for, in Go's names.
type Machine struct{ OS, Arch string }

// Lambda returns the machine that the functions are deployed to.
func Lambda() Machine { return Machine{"linux", "arm64"} }

// Here returns this machine, for programs that are tried on it.
func Here() Machine { return Machine{runtime.GOOS, runtime.GOARCH} }

// flags are those of every build: no path, no revision and no build id of this checkout, and no symbols.
func flags() []string {
	return []string{"-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-tags", tags}
}

// tags leave out what no function needs: of the Lambda library the server of a runtime that is no more, of net/http the
// implementation of HTTP/2. All that a function calls speaks HTTP/1.1, DynamoDB and S3 nothing else.
const tags = "lambda.norpc,nethttpomithttp2"

// environment is the builder's, except for what would change a program.
func (m Machine) environment() []string {
	return append(os.Environ(),
		"GOOS="+m.OS, "GOARCH="+m.Arch, "GOARM64=v8.0", "GOAMD64=v1", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly",
		"GOEXPERIMENT=", "GOWORK=off")
}

// Build compiles main packages of the module in the directory ("" is the working directory) for the machine, and puts
// each program into the folder, under the last element of its package's path.
func Build(ctx context.Context, module string, m Machine, folder string, packages ...string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return fmt.Errorf("build into %s: %w", folder, err)
	}
	args := slices.Concat([]string{"build"}, flags(), []string{"-o", folder + string(filepath.Separator)}, packages)
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Env = module, m.environment()
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %v: %w\n%s", packages, err, bytes.TrimSpace(out))
	}
	return nil
}
