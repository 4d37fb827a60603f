package ical

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// lines cuts a text into unfolded content lines (RFC 5545 §3.1). Programs that fold between the bytes of one character
// are common, so it unfolds bytes and checks for UTF-8 afterwards.
type lines struct {
	rest []byte
	line int // number of the line that rest begins with
	end  byte
	fold []byte
}

func newLines(text []byte) *lines {
	l := &lines{rest: text, line: 1, end: '\n'}
	if bytes.IndexByte(text, '\n') < 0 {
		l.end = '\r' // line ends of old Macintoshes
	}
	return l
}

var errLongLine = errors.New("the line is too long")

// next returns the next content line that is not blank, and its number. The slice is valid until the next call. For a
// line beyond the bound it returns the beginning, with errLongLine.
func (l *lines) next() (content []byte, number int, ok bool, err error) {
	for len(l.rest) > 0 {
		number = l.line
		content = l.physical()
		folded := false
		for l.continues() {
			more := l.physical()[1:]
			if len(content)+len(more) > maxLine {
				err = errLongLine
				continue
			}
			if !folded {
				l.fold, folded = append(l.fold[:0], content...), true
			}
			l.fold = append(l.fold, more...)
			content = l.fold
		}
		if len(content) > maxLine {
			err = errLongLine
		}
		if len(bytes.TrimSpace(content)) > 0 {
			return content, number, true, err
		}
		err = nil
	}
	return nil, 0, false, nil
}

func (l *lines) physical() []byte {
	line := l.rest
	if i := bytes.IndexByte(l.rest, l.end); i >= 0 {
		line, l.rest = l.rest[:i], l.rest[i+1:]
	} else {
		l.rest = nil
	}
	l.line++
	return bytes.TrimRight(line, "\r")
}

// continues skips blank lines, since some programs double the line ends, and reports whether a continuation comes.
func (l *lines) continues() bool {
	for i, c := range l.rest {
		switch c {
		case l.end:
			l.line++
		case '\r':
		default:
			l.rest = l.rest[i:]
			return c == ' ' || c == '\t'
		}
	}
	l.rest = nil
	return false
}

// sanitize returns the line as text, and lists its replacements: a space for a control character except the tab, which
// the standard's grammar refuses, and U+FFFD for bytes that are no UTF-8. Neither can be written again.
func sanitize(line []byte) (text, replaced string) {
	hasControls := slices.ContainsFunc(line, func(c byte) bool { return isControl(rune(c)) })
	isText := utf8.Valid(line)
	if isText && !hasControls {
		return string(line), ""
	}
	text = strings.ToValidUTF8(string(line), "\uFFFD")
	if !isText {
		replaced = "holds bytes that are not UTF-8: each run of them is read as U+FFFD"
	}
	if hasControls {
		text = strings.Map(spaceForControl, text)
		replaced = "holds control characters: each is read as a space"
	}
	if hasControls && !isText {
		replaced = "holds bytes that are not UTF-8 and control characters: they are read as U+FFFD and spaces"
	}
	return text, replaced
}

func spaceForControl(r rune) rune {
	if isControl(r) {
		return ' '
	}
	return r
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// parseLine reads name, parameters and value of one content line. A property without a name means that not even the
// name could be read.
func parseLine(line string, number int) (Property, error) {
	i := strings.IndexAny(line, ";:")
	if i < 0 {
		return Property{}, fmt.Errorf("%q has no colon", clip(line))
	}
	p := Property{Name: upper(strings.TrimSpace(line[:i])), Line: number}
	if !isName(p.Name) {
		return Property{}, fmt.Errorf("%q is no property name", clip(p.Name))
	}
	rest := line[i:]
	for rest[0] == ';' {
		if len(p.Params) == maxParams {
			return p, fmt.Errorf("has more than %d parameters", maxParams)
		}
		param, after, err := parseParam(rest[1:])
		if err != nil {
			return p, err
		}
		p.Params, rest = append(p.Params, param), after
	}
	p.Value = rest[1:]
	return p, nil
}

// parseParam reads NAME=value,value and returns what follows, which begins with a semicolon or a colon.
func parseParam(s string) (Param, string, error) {
	name, rest, ok := strings.Cut(s, "=")
	param := Param{Name: upper(strings.TrimSpace(name))}
	if !ok || !isName(param.Name) {
		return param, "", fmt.Errorf("%q is no parameter", clip(s))
	}
	for {
		if len(param.Values) == maxParamValues {
			return param, "", fmt.Errorf("parameter %s has more than %d values", clip(param.Name), maxParamValues)
		}
		value, after, err := parseParamValue(rest)
		if err != nil {
			return param, "", fmt.Errorf("parameter %s: %w", clip(param.Name), err)
		}
		param.Values = append(param.Values, value)
		if after[0] != ',' {
			return param, after, nil
		}
		rest = after[1:]
	}
}

// parseParamValue reads one value, quoted or not, and returns what follows: never empty.
func parseParamValue(s string) (value, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		end := strings.IndexByte(s[1:], '"')
		if end < 0 {
			return "", "", errors.New("the quote is not closed")
		}
		value, rest = s[1:end+1], s[end+2:]
		if rest == "" || !strings.ContainsRune(",;:", rune(rest[0])) {
			return "", "", fmt.Errorf("%q follows the quote", clip(rest))
		}
	} else {
		end := strings.IndexAny(s, ",;:")
		if end < 0 {
			return "", "", errors.New("no colon follows")
		}
		value, rest = s[:end], s[end:]
	}
	return caretDecoder.Replace(value), rest, nil
}

// The escapes of parameter values (RFC 6868 §3.1). A caret before any other character is literal.
var (
	caretDecoder = strings.NewReplacer("^^", "^", "^n", "\n", "^'", `"`)
	caretEncoder = strings.NewReplacer("^", "^^", "\r\n", "^n", "\n", "^n", "\r", "^n", `"`, "^'")
)

// isName accepts the standard's names and, since programs write them, underscores and dots.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return s != ""
}

// upper folds ASCII letters only. It leaves its own results unchanged.
func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, s)
}
