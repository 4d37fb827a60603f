package docs

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// sample is one way to make an operation's request.
type sample struct{ Language, Text string }

// capital matches the first letter of each word but the first in a parameter's name.
var capital = regexp.MustCompile(`[A-Z]`)

// valueOf returns a value of a parameter for samples: its example, else the first of its values, else the parameter's
// name in capitals, such as TASK_ID.
func valueOf(p *node) string {
	schema := p.get("schema")
	for _, example := range []string{p.str("example"), schema.str("example"), schema.str("const")} {
		if example != "" {
			return example
		}
	}
	if values := schema.get("enum").elements(); len(values) > 0 {
		return values[0]
	}
	if schema.str("format") == "date" {
		return "2026-03-02"
	}
	return strings.ToUpper(capital.ReplaceAllString(p.str("name"), "_$0"))
}

// samples returns the request with what it must have, and with the body's example.
func (o operation) samples() []sample {
	return []sample{{"curl", o.curl()}, {"TypeScript", o.typeScript()}}
}

// curl returns a command for a shell in which NEXUS is the address and TOKEN the user's token.
func (o operation) curl() string {
	path, query := o.Path, url.Values{}
	headers := []string{}
	if !o.Open {
		headers = append(headers, `"Authorization: Bearer $TOKEN"`)
	}
	for _, p := range o.Parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(p.Value))
		case !p.Required:
		case p.In == "query":
			query.Set(p.Name, p.Value)
		default:
			headers = append(headers, shellQuoted(p.Name+": "+p.Value))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var out strings.Builder
	out.WriteString("curl")
	if o.Method != "GET" {
		out.WriteString(" -X " + o.Method)
	}
	fmt.Fprintf(&out, ` "$NEXUS%s"`, path)
	if o.Example != "" {
		headers = append(headers, shellQuoted("Content-Type: "+o.mainMedia()))
	}
	for _, h := range headers {
		out.WriteString(" \\\n  -H " + h)
	}
	if o.Example != "" {
		out.WriteString(" \\\n  --data-binary " + shellQuoted(o.Example))
	}
	return out.String()
}

func (o operation) mainMedia() string {
	first, _, _ := strings.Cut(o.Media, ",")
	return first
}

func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// typeScript returns a call of a client that openapi-fetch makes of the document.
func (o operation) typeScript() string {
	var params []string
	for _, in := range []string{"path", "query", "header"} {
		var members []string
		for _, p := range o.Parameters {
			if p.In == in && (p.Required || in == "path") {
				members = append(members, fmt.Sprintf("%s: %s", member(p.Name), p.literal()))
			}
		}
		if len(members) > 0 {
			params = append(params, fmt.Sprintf("%s: { %s }", in, strings.Join(members, ", ")))
		}
	}
	var options []string
	if len(params) > 0 {
		options = append(options, "params: { "+strings.Join(params, ", ")+" }")
	}
	if o.Example != "" {
		if strings.HasSuffix(o.mainMedia(), "json") {
			options = append(options, "body: "+strings.ReplaceAll(o.Example, "\n", "\n  "))
		} else {
			options = append(options, fmt.Sprintf("body: %q", o.Example), "bodySerializer: (text) => text",
				fmt.Sprintf(`headers: { "Content-Type": %q }`, o.mainMedia()))
		}
	}
	if o.isText() {
		options = append(options, `parseAs: "text"`)
	}
	call := fmt.Sprintf("const { data, error } = await client.%s(%q", o.Method, o.Path)
	if len(options) > 0 {
		call += ", {\n  " + strings.Join(options, ",\n  ") + ",\n}"
	}
	return call + ");"
}

// isText reports whether the operation answers with something else than JSON.
func (o operation) isText() bool {
	for _, a := range o.Answers {
		if a.Status < "300" && a.Media != "" {
			return !strings.HasSuffix(a.Media, "json")
		}
	}
	return false
}

var isName = regexp.MustCompile(`^[A-Za-z_]\w*$`)

func member(name string) string {
	if isName.MatchString(name) {
		return name
	}
	return fmt.Sprintf("%q", name)
}

// literal returns the value as TypeScript: a number or a string.
func (p parameter) literal() string {
	for _, plain := range []string{"integer", "number", "boolean"} {
		if strings.HasPrefix(p.Type, plain) {
			return p.Value
		}
	}
	return fmt.Sprintf("%q", p.Value)
}
