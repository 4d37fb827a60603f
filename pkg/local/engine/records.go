package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// recordPage is a GetRecords answer. Other members stay unchanged.
type recordPage struct {
	Records           []record `json:"Records"`
	NextShardIterator string   `json:"NextShardIterator,omitempty"`
}

type record struct {
	EventID      string       `json:"eventID"`
	EventName    string       `json:"eventName"`
	EventVersion string       `json:"eventVersion"`
	EventSource  string       `json:"eventSource"`
	AwsRegion    string       `json:"awsRegion"`
	Dynamodb     recordBody   `json:"dynamodb"`
	UserIdentity *identityOut `json:"userIdentity,omitempty"`
}

type recordBody struct {
	ApproximateCreationDateTime json.RawMessage `json:"ApproximateCreationDateTime,omitempty"`
	Keys                        json.RawMessage `json:"Keys,omitempty"`
	NewImage                    json.RawMessage `json:"NewImage,omitempty"`
	OldImage                    json.RawMessage `json:"OldImage,omitempty"`
	SequenceNumber              string          `json:"SequenceNumber"`
	SizeBytes                   json.RawMessage `json:"SizeBytes,omitempty"`
	StreamViewType              string          `json:"StreamViewType,omitempty"`
}

// identityOut is a userIdentity with the keys of the service's API reference. Reading accepts any spelling of them.
type identityOut struct {
	PrincipalID string `json:"PrincipalId"`
	Type        string `json:"Type"`
}

var serviceIdentity = identityOut{PrincipalID: "dynamodb.amazonaws.com", Type: "Service"}

// records turns a GetRecords answer into the service's.
func (t *transport) records(ctx context.Context, answer []byte) ([]byte, error) {
	var page recordPage
	if err := json.Unmarshal(answer, &page); err != nil {
		return nil, err
	}
	kept := page.Records[:0]
	for _, r := range page.Records {
		changesNothing, err := r.changesNothing()
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", r.Dynamodb.SequenceNumber, err)
		}
		if changesNothing {
			continue
		}
		if err := t.putRight(ctx, &r); err != nil {
			return nil, fmt.Errorf("record %s: %w", r.Dynamodb.SequenceNumber, err)
		}
		kept = append(kept, r)
	}
	page.Records = kept
	if page.Records == nil {
		page.Records = []record{}
	}
	return json.Marshal(page)
}

func (t *transport) putRight(ctx context.Context, r *record) error {
	if r.EventName == "REMOVE" && r.UserIdentity == nil && t.removals != nil {
		removal, err := r.removal()
		if err != nil {
			return err
		}
		swept, err := t.removals.Swept(ctx, removal)
		if err != nil {
			return err
		}
		if swept {
			r.UserIdentity = &serviceIdentity
		}
	}
	id := sha256.Sum256([]byte(r.EventID))
	r.EventID = hex.EncodeToString(id[:16])
	r.AwsRegion = t.region
	r.Dynamodb.SequenceNumber = padSequence(r.Dynamodb.SequenceNumber)
	return nil
}

// changesNothing reports a MODIFY whose images are equal, which the service would not have written.
func (r *record) changesNothing() (bool, error) {
	before, after := r.Dynamodb.OldImage, r.Dynamodb.NewImage
	if r.EventName != "MODIFY" || len(before) != len(after) || len(before) == 0 {
		return false, nil // the same values in another order have the same length
	}
	if bytes.Equal(before, after) {
		return true, nil
	}
	var a, b map[string]any
	if err := decodeExact(before, &a); err != nil {
		return false, err
	}
	if err := decodeExact(after, &b); err != nil {
		return false, err
	}
	return reflect.DeepEqual(inOrder(a), inOrder(b)), nil
}

// inOrder sorts the members of the sets in an attribute value, because a set has no order.
func inOrder(value any) any {
	switch value := value.(type) {
	case []any:
		for _, each := range value {
			inOrder(each)
		}
	case map[string]any:
		for name, each := range value {
			members, isList := each.([]any)
			if isList && len(value) == 1 && (name == "SS" || name == "NS" || name == "BS") {
				sortMembers(members)
				continue
			}
			inOrder(each)
		}
	}
	return value
}

func sortMembers(members []any) {
	slices.SortFunc(members, func(a, b any) int {
		x, _ := a.(string)
		y, _ := b.(string)
		return strings.Compare(x, y)
	})
}

func (r *record) removal() (Removal, error) {
	type text struct{ S string }
	type number struct{ N item.Number }
	var key struct{ PK, SK text }
	if err := json.Unmarshal(r.Dynamodb.Keys, &key); err != nil {
		return Removal{}, err
	}
	var old map[string]json.RawMessage
	if err := json.Unmarshal(r.Dynamodb.OldImage, &old); err != nil {
		return Removal{}, err
	}
	removal := Removal{Key: item.Key{PK: key.PK.S, SK: key.SK.S}}
	for name, into := range map[string]*item.Number{entity.AttrTTL: &removal.TTL, entity.AttrVersion: &removal.Version} {
		if raw, ok := old[name]; ok {
			var n number
			if err := json.Unmarshal(raw, &n); err != nil {
				return Removal{}, fmt.Errorf("attribute %s of the old image: %w", name, err)
			}
			*into = n.N
		}
	}
	return removal, nil
}
