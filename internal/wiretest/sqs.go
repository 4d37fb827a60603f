package wiretest

import (
	"fmt"
	"net/http"
	"regexp"
)

// SQS returns Amazon SQS, as far as Nexus puts messages into a FIFO queue: JSON 1.0.
func SQS() Service {
	return describe("sqs", map[string][]Rule{"SendMessage": {queueIsFIFO, charactersAreAllowed}},
		func(w http.ResponseWriter, r Refusal) {
			refuseJSON(w, "application/x-amz-json-1.0", "com.amazonaws.sqs#", r)
		})
}

var fifoQueue = regexp.MustCompile(`^https?://[^/]+/[0-9]{12}/[A-Za-z0-9_-]{1,75}\.fifo$`)

// queueIsFIFO checks Amazon SQS Developer Guide, "Amazon SQS queue and message identifiers": the name of a FIFO queue
// has at most 80 characters and ends with .fifo.
func queueIsFIFO(c Call) []string {
	if url, _ := c.Input["QueueUrl"].(string); !fifoQueue.MatchString(url) {
		return []string{fmt.Sprintf("QueueUrl %q is not that of a FIFO queue", url)}
	}
	return nil
}

// charactersAreAllowed checks SendMessage, MessageBody: tab, line feed, carriage return, and from U+0020 on all but
// surrogates, U+FFFE and U+FFFF.
func charactersAreAllowed(c Call) []string {
	body, _ := c.Input["MessageBody"].(string)
	for _, r := range body {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return []string{fmt.Sprintf("MessageBody has the character %U", r)}
		}
	}
	return nil
}
