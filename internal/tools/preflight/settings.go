package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"nexus/pkg/deploy/setting"
)

// readSettings returns the settings of a stage from cdk.json, or from what the CDK is told besides: -c name=value and
// --context name=value. Other words are the CDK's alone. Preflight reads some; the infrastructure checks all.
func readSettings(path, stage string, flags []string) (*setting.Reader, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	var file struct {
		Context struct{ Stages map[string]map[string]any }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("settings in %s: %w", path, err)
	}
	values, ok := file.Context.Stages[stage]
	if !ok {
		return nil, errors.New("settings: " + path + " has no stage " + stage)
	}
	for i, word := range flags {
		value, isJoined := strings.CutPrefix(word, "--context=")
		if !isJoined && i+1 < len(flags) && (word == "-c" || word == "--context") {
			value = flags[i+1]
		}
		if name, text, isSetting := strings.Cut(value, "="); isSetting {
			values[name] = text
		}
	}
	return &setting.Reader{Stage: stage, Values: values}, nil
}
