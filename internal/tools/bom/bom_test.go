package bom_test

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"debug/gosym"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"nexus/internal/tools/bom"
	"nexus/internal/tools/bundle"
)

var root = filepath.Join("..", "..", "..")

// parsed is the document as the library reads it.
func parsed(t *testing.T, text []byte) *cyclonedx.BOM {
	t.Helper()
	var out cyclonedx.BOM
	require.NoError(t, cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&out))
	return &out
}

// written returns the bill of materials of a program that is handed out in a file.
func written(t *testing.T, handed, program []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, bom.Write(&out, handed, bytes.NewReader(program)))
	return out.Bytes()
}

// modulesOf asks the go command which modules with their versions the packages of a function come from.
func modulesOf(t *testing.T, function string) []string {
	t.Helper()
	const each = "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}{{end}}{{end}}"
	list := bundle.Lambda().Go(t.Context(), root, "list", "-deps", "-tags", bundle.Tags, "-f", each,
		"./functions/"+function)
	text, err := list.Output()
	require.NoError(t, err)
	seen := map[string]bool{}
	var out []string
	for name := range strings.FieldsSeq(string(text)) {
		if !seen[name] {
			out = append(out, name)
		}
		seen[name] = true
	}
	return out
}

// packagesIn returns the packages of others' modules that have functions in a program without symbols: the table of
// functions, which the runtime needs, has their names.
func packagesIn(t *testing.T, program []byte) map[string]bool {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(program))
	require.NoError(t, err)
	lines, err := file.Section(".gopclntab").Data()
	require.NoError(t, err)
	table, err := gosym.NewTable(nil, gosym.NewLineTable(lines, file.Section(".text").Addr))
	require.NoError(t, err)
	out := map[string]bool{}
	for _, f := range table.Funcs {
		if name := f.PackageName(); strings.Contains(strings.Split(name, "/")[0], ".") {
			out[strings.ReplaceAll(name, "%2e", ".")] = true // the linker escapes points in the last element of a path
		}
	}
	return out
}

func TestWrite_namesTheModulesThatAreInTheArchive(t *testing.T) {
	t.Parallel()
	const function = "effects"
	folder := t.TempDir()
	require.NoError(t, bundle.Build(t.Context(), root, bundle.Lambda(), folder, "./functions/"+function))
	program, err := os.ReadFile(filepath.Join(folder, function))
	require.NoError(t, err)
	var archive bytes.Buffer
	require.NoError(t, bundle.Archive(&archive, bytes.NewReader(program)))
	text := written(t, archive.Bytes(), program)
	document := parsed(t, text)

	sum := sha256.Sum256(archive.Bytes())
	whole := document.Metadata.Component
	require.Equal(t, "nexus/functions/"+function, whole.Name)
	hash := cyclonedx.Hash{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}
	require.Equal(t, []cyclonedx.Hash{hash}, *whole.Hashes)
	require.Contains(t, *whole.Properties, cyclonedx.Property{Name: "nexus:build:GOARCH", Value: "arm64"})
	require.Empty(t, document.Metadata.Timestamp)

	var modules, paths []string
	for _, c := range *document.Components {
		require.Equal(t, "pkg:golang/"+c.Name+"@"+c.Version, c.PackageURL)
		if c.Name != "stdlib" {
			modules = append(modules, c.Name+"@"+c.Version)
			paths = append(paths, c.Name)
			require.Contains(t, (*c.Properties)[0].Value, "h1:")
		}
	}
	require.Greater(t, len(modules), 10)
	require.ElementsMatch(t, modulesOf(t, function), modules)
	packages := packagesIn(t, program)
	require.Greater(t, len(packages), len(modules))
	for name := range packages {
		require.True(t, inOneOf(paths, name), "no module for package %s, which is in the program", name)
	}
	require.NoError(t, valid(t, text))
	require.ErrorContains(t, valid(t, bytes.Replace(text, []byte(`"library"`), []byte(`"book"`), 1)), "type")
}

// inOneOf reports whether a package is in one of the modules.
func inOneOf(modules []string, name string) bool {
	for _, m := range modules {
		if name == m || strings.HasPrefix(name, m+"/") {
			return true
		}
	}
	return false
}

// valid holds a document against the schema that CycloneDX publishes, of which the library has a copy.
func valid(t *testing.T, text []byte) error {
	t.Helper()
	where := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")
	folder, err := where.Output()
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json",
		"jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		schema, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "schema", file))
		require.NoError(t, err)
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
		require.NoError(t, err)
		require.NoError(t, compiler.AddResource("http://cyclonedx.org/schema/"+name, value))
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return schema.Validate(value)
}

func TestWrite_dependsOnTheFileAlone(t *testing.T) {
	t.Parallel()
	path, err := os.Executable()
	require.NoError(t, err)
	program, err := os.ReadFile(path)
	require.NoError(t, err)
	first := written(t, []byte("archive"), program)
	require.Equal(t, string(first), string(written(t, []byte("archive"), program)))
	other := parsed(t, written(t, []byte("another archive"), program))
	number := parsed(t, first).SerialNumber
	require.Regexp(t, `^urn:uuid:[0-9a-f-]{36}$`, number)
	require.NotEqual(t, number, other.SerialNumber)
}

func TestWrite_refusesWhatIsNoProgramOfGo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.ErrorContains(t, bom.Write(&out, nil, strings.NewReader("#!/bin/sh\n")), "bill of materials: ")
	require.Empty(t, out.String())
}
