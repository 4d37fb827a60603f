package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// settings are those of a stage that preflight reads. The infrastructure checks their forms.
type settings struct {
	Issuer   string
	Identity string
}

// readSettings returns the settings of a stage from cdk.json, or from what the CDK is told besides: -c name=value and
// --context name=value. Other words are the CDK's alone.
func readSettings(path, stage string, flags []string) (settings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return settings{}, fmt.Errorf("settings: %w", err)
	}
	var file struct {
		Context struct{ Stages map[string]settings }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return settings{}, fmt.Errorf("settings in %s: %w", path, err)
	}
	s, ok := file.Context.Stages[stage]
	if !ok {
		return settings{}, errors.New("settings: " + path + " has no stage " + stage)
	}
	for i, word := range flags {
		value, isJoined := strings.CutPrefix(word, "--context=")
		if !isJoined && i+1 < len(flags) && (word == "-c" || word == "--context") {
			value = flags[i+1]
		}
		name, text, _ := strings.Cut(value, "=")
		switch name {
		case "issuer":
			s.Issuer = text
		case "identity":
			s.Identity = text
		}
	}
	return s, nil
}
