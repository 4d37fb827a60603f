package mask

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
)

// line masks one line of the log.
type line struct {
	*handler
	served *users
}

// attr masks an attribute. One named as [User] names it is a user, even if it was not made by it.
func (l line) attr(a slog.Attr) slog.Attr {
	if a.Key == attrUser && a.Value.Kind() == slog.KindString && a.Value.String() != "" {
		a.Value = slog.AnyValue(userID(a.Value.String()))
	}
	a.Value = l.value(a.Value)
	return a
}

func (l line) value(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(l.text(v.String(), l.served))
	case slog.KindGroup:
		group := make([]slog.Attr, len(v.Group()))
		for i, a := range v.Group() {
			group[i] = l.attr(a)
		}
		return slog.GroupValue(group...)
	case slog.KindLogValuer:
		switch known := v.Any().(type) {
		case userID:
			return slog.StringValue(l.user(string(known)))
		case chosen:
			return slog.StringValue(l.chosen(string(known)))
		}
		return l.value(v.Resolve())
	case slog.KindAny:
		return l.any(v)
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64:
	}
	return v
}

// any masks a value of another type in the form in which handlers show it.
func (l line) any(v slog.Value) slog.Value {
	switch known := v.Any().(type) {
	case nil:
		return v
	case error:
		return slog.StringValue(l.text(textOf(known.Error), l.served))
	case fmt.Stringer:
		return slog.StringValue(l.text(textOf(known.String), l.served))
	case []string:
		out := make([]string, len(known))
		for i, s := range known {
			out[i] = l.text(s, l.served)
		}
		return slog.AnyValue(out)
	}
	shown, err := json.Marshal(v.Any())
	if err != nil {
		shown = fmt.Appendf(nil, "%+v", v.Any())
	}
	if masked := l.text(string(shown), l.served); masked != string(shown) {
		return slog.StringValue(masked)
	}
	return v
}

// textOf returns the text of a value whose method may panic, as that of a nil pointer: a line of the log ends no
// program.
func textOf(method func() string) (text string) {
	defer func() {
		if value := recover(); value != nil {
			text = fmt.Sprint("!PANIC: ", value)
		}
	}()
	return method()
}

func (l line) user(id string) string {
	switch {
	case l.clear:
		return id
	case l.pepper.IsZero():
		return hiddenUser
	}
	return l.pepper.Pseudonym(id)
}

func (l line) chosen(text string) string {
	switch {
	case l.clear:
		return text
	case l.pepper.IsZero():
		return hiddenChosen
	}
	return l.pepper.Chosen(text)
}

// text puts pseudonyms in the place of the users that keys, names of objects and the words of the text name. A line's
// message is the program's own: it has keys at most, so served is nil for it.
func (l line) text(s string, served *users) string {
	if l.clear || served == nil && strings.IndexByte(s, '#') < 0 && strings.IndexByte(s, '/') < 0 {
		return s
	}
	var out strings.Builder
	copied := 0
	words := wordsOf(s)
	for words.next() {
		if id := words.current(); words.isUser() || served.has(id) {
			out.WriteString(s[copied:words.start])
			out.WriteString(l.user(id))
			copied = words.end
		}
	}
	if copied == 0 {
		return s
	}
	out.WriteString(s[copied:])
	return out.String()
}
