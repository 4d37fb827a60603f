package consume

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrNoRecords says that the text holds no stream records in a form that [Records] reads.
var ErrNoRecords = errors.New("no stream records")

// Records extracts the stream records from their containers, unchanged and in order. It reads fixtures (one record a
// line), parked objects, the objects that Lambda writes to an on-failure destination in S3, and events as Lambda
// delivers them. The text may hold several of these in sequence.
func Records(body []byte) ([]json.RawMessage, error) {
	var out []json.RawMessage
	values := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	for n := 1; ; n++ {
		v, err := values.ReadValue()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read JSON value %d: %w", n, err)
		}
		records, err := recordsOf(v)
		if err != nil {
			return nil, fmt.Errorf("JSON value %d: %w", n, err)
		}
		out = append(out, records...)
	}
	if len(out) == 0 {
		return nil, ErrNoRecords
	}
	return out, nil
}

// Event puts records together as the event with which Lambda delivers them.
func Event(records []json.RawMessage) []byte {
	const begin, end = `{"Records":[`, `]}`
	size := len(begin) + len(end)
	for _, r := range records {
		size += len(r) + 1
	}
	out := append(make([]byte, 0, size), begin...)
	for i, r := range records {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, r...)
	}
	return append(out, end...)
}

// envelope has one member of each form, which identifies it.
type envelope struct {
	Records []json.RawMessage `json:"Records"`
	// A parked object.
	Record json.RawMessage `json:"record"`
	// An on-failure object: the event is a text in it (AWS Lambda Developer Guide, "Retain discarded batches").
	BatchInfo json.RawMessage `json:"DDBStreamBatchInfo"`
	Payload   string          `json:"payload"`
	// A record.
	EventID   json.RawMessage `json:"eventID"`
	EventName json.RawMessage `json:"eventName"`
	DynamoDB  json.RawMessage `json:"dynamodb"`
}

func recordsOf(v jsontext.Value) ([]json.RawMessage, error) {
	var e envelope
	if err := json.Unmarshal(v, &e); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRecords, err)
	}
	switch {
	case e.Records != nil:
		return e.Records, nil
	case e.Record != nil:
		return []json.RawMessage{e.Record}, nil
	case e.Payload != "":
		return recordsInPayload(e.Payload)
	case e.BatchInfo != nil:
		// Queues and topics get only the batch's position in the stream.
		return nil, fmt.Errorf("%w: the failure object has no payload", ErrNoRecords)
	case e.DynamoDB != nil || e.EventName != nil || e.EventID != nil:
		return []json.RawMessage{bytes.Clone(v)}, nil
	}
	return nil, fmt.Errorf("%w: neither record, event, parked object nor failure object", ErrNoRecords)
}

func recordsInPayload(payload string) ([]json.RawMessage, error) {
	var event struct{ Records []json.RawMessage }
	if err := json.Unmarshal([]byte(payload), &event); err != nil {
		return nil, fmt.Errorf("%w: payload: %w", ErrNoRecords, err)
	}
	if event.Records == nil {
		return nil, fmt.Errorf("%w: the payload has no Records", ErrNoRecords)
	}
	return event.Records, nil
}
