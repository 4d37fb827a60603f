package entity

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/text"
)

// Halved is a JSON text with half of a surrogate pair, as a program sends that has cut a character in two. It is no
// string, so it is refused wherever a text is read.
type Halved string

// Parse turns a decoded JSON object (values string, bool, json.Number, nil, []any and map[string]any) into a patch:
// attributes in neutral form, [item.Null] where the document says null. Names that clients may not send, and values of
// another JSON type than the field's, become errors; bounds are checked later, on the whole item. The patch holds
// [item.Refused] for a refused value.
//
// An instant that came without an offset is left without its Z: [Type.Merge], which knows the zone, decides whether
// that is right.
func (t *Type) Parse(doc map[string]any) (patch item.Item, errs []FieldError) {
	var broken Faults
	patch = parseObject(&broken, "", t.Fields, doc, FromClient)
	return patch, broken
}

// ParseShown is [Type.Parse] for a document that [Type.AppendJSON] wrote: it also takes the fields that only the server
// sets. The document may be forged: the caller checks the
// values, and derives again what follows from others.
func (t *Type) ParseShown(doc map[string]any) (shown item.Item, errs []FieldError) {
	var broken Faults
	shown = parseObject(&broken, "", t.Fields, doc, FromServer)
	return shown, broken
}

// parseObject takes the fields of clients, and with [FromServer] also those of the server.
func parseObject(errs *Faults, parent string, fields []Field, doc map[string]any, takes Origin) item.Item {
	patch := item.Item{}
	known := 0
	for i := range fields {
		f := &fields[i]
		raw, ok := doc[f.Name]
		if !ok {
			continue
		}
		known++
		pointer := pointerTo(parent, f.Name)
		switch {
		case f.Origin == Hidden:
			errs.At(pointer, "is not a known field")
		case f.Origin > takes:
			errs.At(pointer, "is set by the server")
		case raw == nil:
			patch[f.Name] = item.Null{}
		default:
			patch[f.Name] = item.Refused{}
			if v := f.parse(errs, pointer, raw, takes); v != nil {
				patch[f.Name] = v
			}
		}
	}
	if known < len(doc) {
		refuseUnknown(errs, parent, fields, doc, patch)
	}
	return patch
}

// maxNameLength bounds the part of an unknown field's name that an error repeats, in bytes. Every type's names are
// shorter.
const maxNameLength = 64

// maxGuesses bounds the unknown names of one object that get proposals: an object may consist of such names.
const maxGuesses = 8

// refuseUnknown refuses the names that no field has. If it proposes a field for such a name, the patch marks that
// field as sent and refused, so that it is not reported as missing.
func refuseUnknown(errs *Faults, parent string, fields []Field, doc map[string]any, patch item.Item) {
	names := map[string]bool{}
	var takes []string
	for _, f := range fields {
		names[f.Name] = true
		if f.Origin == FromClient {
			takes = append(takes, f.Name)
		}
	}
	guesses := 0
	for _, name := range sortedNames(doc) {
		switch {
		case names[name]:
		case len(name) > maxNameLength:
			errs.At(parent, "has a field whose name has more than %d bytes", maxNameLength)
		case guesses == maxGuesses:
			errs.At(pointerTo(parent, name), "is not a known field")
		default:
			guesses++
			near := text.Near(name, takes)
			errs.At(pointerTo(parent, name), "is not a known field%s", text.DidYouMean(near))
			for _, meant := range near {
				if !patch.Has(meant) {
					patch[meant] = item.Refused{}
				}
			}
		}
	}
}

// parse converts one JSON value; nil after an error.
func (f *Field) parse(errs *Faults, pointer string, raw any, takes Origin) item.Value {
	switch f.Kind {
	case Flag:
		if b, ok := raw.(bool); ok {
			return item.Bool(b)
		}
		errs.At(pointer, "must be true or false")
	case Integer:
		if n, ok := parseWhole(raw); ok {
			return n
		}
		errs.At(pointer, "must be a whole number")
	case Minutes:
		if numbers, ok := parseList(raw, parseWhole); ok {
			return minutesSet(numbers)
		}
		errs.At(pointer, "must be a list of whole numbers")
	case Integers:
		if numbers, ok := parseList(raw, parseWhole); ok {
			list := item.List{}
			for _, n := range numbers {
				list = append(list, n)
			}
			return list
		}
		errs.At(pointer, "must be a list of whole numbers")
	case Tags:
		if tags, ok := parseList(raw, parseText); ok {
			for _, tag := range tags {
				if wrong := text.CheckLine(tag); wrong != "" {
					errs.At(pointer, "each %s", wrong)
					return nil
				}
			}
			return item.Strings(tags...)
		}
		errs.At(pointer, "must be a list of texts")
	case Dates:
		if dates, ok := parseList(raw, parseText); ok {
			return dateList(dates)
		}
		errs.At(pointer, "must be a list of dates YYYYMMDD")
	case Names:
		if names, ok := parseList(raw, parseText); ok {
			list := item.List{}
			for _, name := range names {
				list = append(list, item.String(name))
			}
			return list
		}
		errs.At(pointer, "must be a list of names")
	case Links:
		return parseLinks(errs, pointer, raw)
	case Object:
		doc, ok := raw.(map[string]any)
		if !ok {
			errs.At(pointer, "must be an object")
			return nil
		}
		return item.Map(parseObject(errs, pointer, f.Fields, doc, takes))
	default:
		s, ok := raw.(string)
		if _, isHalved := raw.(Halved); isHalved {
			errs.At(pointer, "must not have half of a surrogate pair")
			return nil
		}
		if !ok {
			errs.At(pointer, "must be a text")
			return nil
		}
		return f.parseText(errs, pointer, s)
	}
	return nil
}

// parseText also refuses characters that do not belong in such a text. It checks the sent value and not the whole
// item, so that other fields of an item with an older text can still be edited.
func (f *Field) parseText(errs *Faults, pointer, s string) item.Value {
	wrong := ""
	switch f.Kind {
	case Text:
		wrong = text.CheckLine(s)
	case Markdown:
		wrong = text.CheckMarkdown(s)
	case Instant:
		text, ok := parseRFC3339(s)
		if !ok {
			errs.At(pointer, "%s", ExplainTime(s))
			return nil
		}
		return item.String(text)
	case Color:
		hex, ok := parseColor(s)
		if !ok {
			errs.At(pointer, "must be a palette name or #rrggbb")
			return nil
		}
		return item.String(hex)
	}
	if wrong != "" {
		errs.At(pointer, "%s", wrong)
		return nil
	}
	return item.String(s)
}

// parseRFC3339 returns the stored form of an RFC 3339 date-time with offset, and the stored form without its Z for one
// without offset. A fraction of a second is cut off.
func parseRFC3339(s string) (string, bool) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		if y := t.UTC().Year(); y < 0 || y > 9999 {
			return "", false
		}
		return item.FormatInstant(t), true
	}
	if t, err := time.Parse("2006-01-02T15:04:05", s); err == nil {
		return strings.TrimSuffix(item.FormatInstant(t), "Z"), true
	}
	return "", false
}

func parseWhole(raw any) (item.Number, bool) {
	n, ok := raw.(json.Number)
	if !ok {
		return "", false
	}
	i, err := strconv.ParseInt(string(n), 10, 64)
	return item.Int(i), err == nil
}

func parseText(raw any) (string, bool) { s, ok := raw.(string); return s, ok }

// dateList returns a set of dates as a list: sorted, each once.
func dateList(dates []string) item.List {
	slices.Sort(dates)
	list := item.List{}
	for _, date := range slices.Compact(dates) {
		list = append(list, item.String(date))
	}
	return list
}

func parseList[T any](raw any, parse func(any) (T, bool)) ([]T, bool) {
	list, ok := raw.([]any)
	if !ok {
		return nil, false
	}
	out := make([]T, len(list))
	for i, e := range list {
		if out[i], ok = parse(e); !ok {
			return nil, false
		}
	}
	return out, true
}

func minutesSet(numbers []item.Number) item.NumberSet {
	members := make([]int64, len(numbers))
	for i, n := range numbers {
		members[i], _ = strconv.ParseInt(string(n), 10, 64)
	}
	return item.Ints(members...)
}

func parseLinks(errs *Faults, pointer string, raw any) item.Value {
	list, ok := raw.([]any)
	if !ok {
		errs.At(pointer, "must be a list of links")
		return nil
	}
	fields := []Field{
		{Name: LinkTargetType, Kind: Text, Required: true}, {Name: LinkTargetID, Kind: Text, Required: true},
		{Name: LinkRelation, Kind: Text, Min: 1},
	}
	links := item.List{}
	for i, e := range list {
		at := pointerTo(pointer, strconv.Itoa(i))
		doc, ok := e.(map[string]any)
		if !ok {
			errs.At(at, "must be an object")
			links = append(links, item.Refused{}) // the later ones keep their positions
			continue
		}
		link := parseObject(errs, at, fields, doc, FromClient)
		checkFields(errs, at, fields, link)
		links = append(links, item.Map(link))
	}
	return links
}
