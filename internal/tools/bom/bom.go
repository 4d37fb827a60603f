// Package bom writes the bill of materials of a program: the modules that it contains, as a CycloneDX document.
//
// It promises to tell what stands in the program itself, which the linker wrote there, and that the same file gives the
// same bytes: a document has neither a time nor a random number. It must never read the module that it is built in.
package bom

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// Suffix comes behind the name of a file in that of its bill of materials. CycloneDX recommends it.
const Suffix = ".cdx.json"

// told are the settings of a build that say what the program is for. Others may be different on each machine.
var told = []string{"GOOS", "GOARCH", "GOARM64", "GOAMD64", "CGO_ENABLED", "-tags"}

// Write writes the bill of materials of a program. Handed is the file in which the program is handed out: itself, or an
// archive that contains it.
func Write(out io.Writer, handed []byte, program io.ReaderAt) error {
	info, err := buildinfo.Read(program)
	if err != nil {
		return fmt.Errorf("bill of materials: %w", err)
	}
	document := cyclonedx.NewBOM()
	document.Metadata = &cyclonedx.Metadata{Component: whole(handed, info)}
	document.Components = components(info)
	if document.SerialNumber, err = serial(document); err != nil {
		return fmt.Errorf("bill of materials: %w", err)
	}
	if err := encode(out, document); err != nil {
		return fmt.Errorf("bill of materials: %w", err)
	}
	return nil
}

// whole describes the file itself.
func whole(handed []byte, info *debug.BuildInfo) *cyclonedx.Component {
	sum := sha256.Sum256(handed)
	var settings []cyclonedx.Property
	for _, s := range info.Settings {
		if slices.Contains(told, s.Key) {
			settings = append(settings, cyclonedx.Property{Name: "nexus:build:" + s.Key, Value: s.Value})
		}
	}
	return &cyclonedx.Component{
		BOMRef:     info.Path,
		Type:       cyclonedx.ComponentTypeApplication,
		Name:       info.Path,
		Hashes:     &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Properties: &settings,
	}
}

// components are the standard library, under the name that Go's vulnerability database has for it, and the modules.
func components(info *debug.BuildInfo) *[]cyclonedx.Component {
	version, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ") // experiments of the build may follow
	out := []cyclonedx.Component{component("stdlib", version)}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		c := component(module.Path, module.Version)
		if module.Sum != "" {
			c.Properties = &[]cyclonedx.Property{{Name: "nexus:go.sum", Value: module.Sum}}
		}
		out = append(out, c)
	}
	return &out
}

func component(name, version string) cyclonedx.Component {
	address := "pkg:golang/" + name + "@" + url.QueryEscape(version)
	return cyclonedx.Component{
		BOMRef: address, Type: cyclonedx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: address,
	}
}

// serial returns the number of a document without one. Documents differ in it if they differ in anything.
func serial(document *cyclonedx.BOM) (string, error) {
	var text bytes.Buffer
	if err := encode(&text, document); err != nil {
		return "", err
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, text.Bytes()).URN(), nil
}

// encode writes version 1.6 of the format, which is also ECMA-424.
func encode(out io.Writer, document *cyclonedx.BOM) error {
	encoder := cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	return encoder.EncodeVersion(document, cyclonedx.SpecVersion1_6)
}
