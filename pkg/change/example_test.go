package change_test

import (
	"fmt"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// One record of an event is good, the next is not: an INSERT has a new image. Only the bad one has an error.
func ExampleDecode() {
	event := []byte(`{"Records": [
	  {"eventID": "1", "eventName": "REMOVE", "eventSource": "aws:dynamodb", "dynamodb": {
	    "ApproximateCreationDateTime": 1772348400, "SequenceNumber": "100", "StreamViewType": "NEW_AND_OLD_IMAGES",
	    "Keys": {"PK": {"S": "USER#ann"}, "SK": {"S": "NOTE#note_1"}},
	    "OldImage": {"PK": {"S": "USER#ann"}, "SK": {"S": "NOTE#note_1"},
	      "entityType": {"S": "NOTE"}, "noteId": {"S": "note_1"}, "version": {"N": "3"}, "title": {"S": "Ferns"}}}},
	  {"eventID": "2", "eventName": "INSERT", "eventSource": "aws:dynamodb", "dynamodb": {"SequenceNumber": "101"}}
	]}`)
	records, err := change.Decode(event, product.Registry())
	fmt.Println(len(records), err)

	first := records[0].Change
	fmt.Println(first.Kind, first.User, first.Ref.ID, "as version", first.Version, "was", first.Old.Str(entity.AttrTitle))
	fmt.Println(records[1].Sequence, records[1].Err)
	// Output:
	// 2 <nil>
	// Removed ann note_1 as version 4 was Ferns
	// 101 undecodable record: INSERT with NewImage false, want true
}
