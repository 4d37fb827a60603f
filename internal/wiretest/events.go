package wiretest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// EventBridge returns Amazon EventBridge: JSON 1.1.
func EventBridge() Service {
	return describe("events", map[string][]Rule{"PutEvents": {detailsAreObjects, entriesFit}},
		func(w http.ResponseWriter, r Refusal) {
			refuseJSON(w, "application/x-amz-json-1.1", "com.amazonaws.events#", r)
		})
}

// EntryRefusal is a possible answer of PutEvents about a single entry.
type EntryRefusal struct {
	Code string
	// Repeatable says whether the reference lists it among the errors to repeat.
	Repeatable bool
}

// EntryRefusals returns the codes of Amazon EventBridge API Reference, PutEventsResultEntry, ErrorCode.
func EntryRefusals() []EntryRefusal {
	return []EntryRefusal{
		{"InternalFailure", true},
		{"ThrottlingException", true},
		{"AccessDeniedException", false},
		{"InvalidAccountIdException", false},
		{"InvalidArgument", false},
		{"MalformedDetail", false},
		{"RedactionFailure", false},
		{"NotAuthorizedForSourceException", false},
		{"NotAuthorizedForDetailTypeException", false},
	}
}

func detailsAreObjects(c Call) []string {
	var found []string
	for i, entry := range structures(c.Input["Entries"]) {
		detail, _ := entry["Detail"].(string)
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(detail), &object); err != nil || object == nil {
			found = append(found, fmt.Sprintf("Entries[%d].Detail is no JSON object", i))
		}
	}
	return found
}

// maxEntries is Amazon EventBridge User Guide, "Calculating PutEvents event entry size": less than 256 KB in all. A
// newer limit of 1 MB does not hold in every region and at every target.
const maxEntries = 256 << 10

// entriesFit counts as the same page does: the texts as UTF-8, and 14 bytes for a time.
func entriesFit(c Call) []string {
	total := 0
	for _, entry := range structures(c.Input["Entries"]) {
		for _, name := range []string{"Source", "DetailType", "Detail"} {
			value, _ := entry[name].(string)
			total += len(value)
		}
		if entry["Time"] != nil {
			total += 14
		}
	}
	if total >= maxEntries {
		return []string{fmt.Sprintf("the entries have %d bytes, want less than %d", total, maxEntries)}
	}
	return nil
}

// structures returns the members of a list that are structures.
func structures(value any) []map[string]any {
	elements, _ := value.([]any)
	out := make([]map[string]any, len(elements))
	for i, element := range elements {
		out[i], _ = element.(map[string]any)
	}
	return out
}

// refuseJSON answers in the form of the JSON protocols: the type in the body, after its namespace.
func refuseJSON(w http.ResponseWriter, contentType, namespace string, r Refusal) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(r.Status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": namespace + r.Code, "message": message(r)})
}
