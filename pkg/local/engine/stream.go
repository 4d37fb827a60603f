package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// sequenceDigits is the length of the service's shortest sequence numbers.
	sequenceDigits = 21
	// engineRegion is the engine's name of its region.
	engineRegion = "dynoxide"
	arnPrefix    = "arn:aws:dynamodb:"
)

// padSequence converts a sequence number of the engine to the service's form, which is ordered by length, then text.
func padSequence(sequence string) string {
	if sequence == "" || len(sequence) >= sequenceDigits {
		return sequence
	}
	return strings.Repeat("0", sequenceDigits-len(sequence)) + sequence
}

// stripSequence is the inverse of padSequence.
func stripSequence(sequence string) string {
	stripped := strings.TrimLeft(sequence, "0")
	if stripped == "" && sequence != "" {
		return "0"
	}
	return stripped
}

// streamRequest converts a request about a stream to the engine's form.
func (t *transport) streamRequest(content []byte) ([]byte, error) {
	var fields map[string]any
	if err := decodeExact(content, &fields); err != nil {
		return nil, fmt.Errorf("stream request: %w", err)
	}
	for _, name := range []string{"StreamArn", "ExclusiveStartStreamArn"} {
		if arn, ok := fields[name].(string); ok {
			fields[name] = swapRegion(arn, t.region, engineRegion)
		}
	}
	if sequence, ok := fields["SequenceNumber"].(string); ok {
		fields["SequenceNumber"] = stripSequence(sequence)
	}
	return json.Marshal(fields)
}

// regions puts the region into every ARN of an answer that holds no rows.
func (t *transport) regions(answer []byte) ([]byte, error) {
	var fields any
	if err := decodeExact(answer, &fields); err != nil {
		return nil, err
	}
	return json.Marshal(t.swapRegions(fields))
}

// description converts a DescribeStream answer: the region, the form of sequence numbers, and an open shard without an
// end.
func (t *transport) description(answer []byte) ([]byte, error) {
	var fields map[string]any
	if err := decodeExact(answer, &fields); err != nil {
		return nil, err
	}
	stream, _ := fields["StreamDescription"].(map[string]any)
	shards, _ := stream["Shards"].([]any)
	for _, each := range shards {
		shard, _ := each.(map[string]any)
		span, _ := shard["SequenceNumberRange"].(map[string]any)
		delete(span, "EndingSequenceNumber") // the engine has one shard, and it never closes
		if start, ok := span["StartingSequenceNumber"].(string); ok {
			span["StartingSequenceNumber"] = padSequence(start)
		}
	}
	return json.Marshal(t.swapRegions(fields))
}

func (t *transport) swapRegions(value any) any {
	switch value := value.(type) {
	case string:
		return swapRegion(value, engineRegion, t.region)
	case []any:
		for i, each := range value {
			value[i] = t.swapRegions(each)
		}
	case map[string]any:
		for name, each := range value {
			value[name] = t.swapRegions(each)
		}
	}
	return value
}

func swapRegion(arn, from, to string) string {
	if rest, ok := strings.CutPrefix(arn, arnPrefix+from+":"); ok {
		return arnPrefix + to + ":" + rest
	}
	return arn
}

// decodeExact preserves numbers as text.
func decodeExact(content []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return decoder.Decode(into)
}
