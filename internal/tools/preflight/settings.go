package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// settings are those of a stage that preflight reads. The infrastructure checks their forms.
type settings struct {
	Issuer, Identity    string
	Protected           bool
	Domain, Certificate string
	// OriginDomain is the name by which an edge reaches the API.
	OriginDomain, OriginCertificate string
	AlarmTopic                      string
	AlarmEmail                      bool // whether there are addresses
	Reserve                         map[string]int
}

// readSettings returns the settings of a stage from cdk.json, or from what the CDK is told besides: -c name=value and
// --context name=value. Other words are the CDK's alone.
func readSettings(path, stage string, flags []string) (settings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return settings{}, fmt.Errorf("settings: %w", err)
	}
	var file struct {
		Context struct{ Stages map[string]map[string]any }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return settings{}, fmt.Errorf("settings in %s: %w", path, err)
	}
	values, ok := file.Context.Stages[stage]
	if !ok {
		return settings{}, errors.New("settings: " + path + " has no stage " + stage)
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
	return read(values)
}

// read reads the values of cdk.json, or those of the command line, which are texts.
func read(values map[string]any) (settings, error) {
	text := func(name string) string {
		s, _ := values[name].(string)
		return s
	}
	s := settings{
		Issuer: text("issuer"), Identity: text("identity"), Domain: text("domain"), Certificate: text("certificate"),
		OriginDomain: text("originDomain"), OriginCertificate: text("originCertificate"),
		AlarmTopic: text("alarmTopic"), Protected: values["protected"] == true || text("protected") == "true",
		Reserve: map[string]int{},
	}
	addresses, _ := values["alarmEmail"].([]any)
	s.AlarmEmail = len(addresses) > 0 || text("alarmEmail") != ""
	switch reserve := values["reserve"].(type) {
	case map[string]any:
		for name, n := range reserve {
			number, _ := n.(float64)
			s.Reserve[name] = int(number)
		}
	case string:
		for part := range strings.SplitSeq(reserve, ",") {
			name, digits, _ := strings.Cut(part, "=")
			n, err := strconv.Atoi(digits)
			if err != nil {
				return settings{}, fmt.Errorf("settings: reserve: %w", err)
			}
			s.Reserve[name] = n
		}
	}
	return s, nil
}
