package change

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"nexus/pkg/item"
)

// Values that Lambda writes into every record of a table's stream (Amazon DynamoDB Developer Guide, DynamoDB Streams
// record).
const (
	eventVersion   = "1.1"
	eventSource    = "aws:dynamodb"
	streamViewType = "NEW_AND_OLD_IMAGES"

	identityService   = "Service"
	identityPrincipal = "dynamodb.amazonaws.com"
)

// AppendEvent appends the event with which Lambda delivers the records in one batch.
func AppendEvent(dst []byte, records []Record) []byte {
	dst = append(dst, `{"Records":[`...)
	for i, r := range records {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendRecord(dst, r)
	}
	return append(dst, `]}`...)
}

// AppendRecord appends the record as Lambda receives it, on one line. It orders attributes by name, so that equal
// records have equal bytes, and omits a zero Created. In a string that is not UTF-8, which no table holds, it writes
// U+FFFD for each invalid part.
func AppendRecord(dst []byte, r Record) []byte {
	dst = append(dst, `{"eventID":`...)
	dst = appendString(dst, r.EventID)
	dst = append(dst, `,"eventName":`...)
	dst = appendString(dst, string(r.Name))
	dst = append(dst, `,"eventVersion":"`+eventVersion+`","eventSource":"`+eventSource+`","awsRegion":`...)
	dst = appendString(dst, regionOf(r.SourceARN))
	dst = append(dst, `,"dynamodb":{`...)
	if !r.Created.IsZero() {
		dst = append(dst, `"ApproximateCreationDateTime":`...)
		dst = strconv.AppendInt(dst, r.Created.Unix(), 10)
		dst = append(dst, ',')
	}
	dst = append(dst, `"Keys":`...)
	dst = appendItem(dst, r.Key.Item())
	if r.New != nil {
		dst = append(dst, `,"NewImage":`...)
		dst = appendItem(dst, r.New)
	}
	if r.Old != nil {
		dst = append(dst, `,"OldImage":`...)
		dst = appendItem(dst, r.Old)
	}
	dst = append(dst, `,"SequenceNumber":`...)
	dst = appendString(dst, r.Sequence)
	dst = append(dst, `,"SizeBytes":`...)
	dst = strconv.AppendInt(dst, int64(item.Size(r.Key.Item())+item.Size(r.New)+item.Size(r.Old)), 10)
	dst = append(dst, `,"StreamViewType":"`+streamViewType+`"}`...)
	if r.Expired {
		dst = append(dst, `,"userIdentity":{"type":"`+identityService+`","principalId":"`+identityPrincipal+`"}`...)
	}
	dst = append(dst, `,"eventSourceARN":`...)
	dst = appendString(dst, r.SourceARN)
	return append(dst, '}')
}

// regionOf returns the region of an ARN, its fourth part; empty for a text that has none.
func regionOf(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return ""
	}
	return parts[3]
}

func appendString(dst []byte, s string) []byte {
	// The error only repeats that s is not UTF-8; the text is appended whole.
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

func appendItem(dst []byte, it item.Item) []byte {
	dst = append(dst, '{')
	separate := false
	for _, name := range slices.Sorted(maps.Keys(it)) {
		if !it.Has(name) {
			continue
		}
		if separate {
			dst = append(dst, ',')
		}
		separate = true
		dst = appendString(dst, name)
		dst = append(dst, ':')
		dst = appendValue(dst, it[name])
	}
	return append(dst, '}')
}

// appendValue writes one attribute value with its type (Amazon DynamoDB API Reference, AttributeValue).
func appendValue(dst []byte, v item.Value) []byte {
	switch v := v.(type) {
	case item.String:
		dst = append(dst, `{"S":`...)
		dst = appendString(dst, string(v))
	case item.Number:
		dst = append(dst, `{"N":`...)
		dst = appendString(dst, string(v))
	case item.Bool:
		dst = append(dst, `{"BOOL":`...)
		dst = strconv.AppendBool(dst, bool(v))
	case item.Null, nil:
		dst = append(dst, `{"NULL":true`...)
	case item.StringSet:
		dst = appendList(append(dst, `{"SS":`...), v, appendString)
	case item.NumberSet:
		dst = appendList(append(dst, `{"NS":`...), v, appendString)
	case item.List:
		dst = appendList(append(dst, `{"L":`...), v, appendValue)
	case item.Map:
		dst = appendItem(append(dst, `{"M":`...), item.Item(v))
	case item.Binary:
		dst = appendBinary(append(dst, `{"B":`...), v)
	case item.BinarySet:
		dst = appendList(append(dst, `{"BS":`...), v, appendBinary)
	}
	return append(dst, '}')
}

func appendList[E any](dst []byte, members []E, appendMember func([]byte, E) []byte) []byte {
	dst = append(dst, '[')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendMember(dst, m)
	}
	return append(dst, ']')
}

func appendBinary(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}
