package outbox

import (
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Names of the attributes of a WEBHOOK.
const (
	AttrURL        = "url"
	AttrEventTypes = "types"
	AttrOrdering   = "ordering"
	AttrContent    = "content"
	AttrReason     = "reason"
	// AttrGeneration is the number of the present secret, and AttrRotatedAt the time at which it took the place of the
	// former one.
	AttrGeneration = "generation"
	AttrRotatedAt  = "rotatedAt"
	// AttrActiveSince is the time since which the endpoint is active at its present address.
	AttrActiveSince = "activeSince"
)

// States of a WEBHOOK; one that is disabled gets no messages.
const (
	StatusActive   = "ACTIVE"
	StatusDisabled = "DISABLED"
)

// Values of a webhook's ordering and content.
const (
	OrderingParallel = "parallel"
	OrderingFifo     = "fifo"
	ContentThin      = "thin"
	ContentFull      = "full"
)

const (
	maxURL        = 1024
	maxEventTypes = 50
	maxEventType  = 64
)

// Webhook is the type of an endpoint of a user's that is told of changes.
func Webhook() *entity.Type {
	return &entity.Type{
		Name: TypeWebhook, IDAttr: "webhookId", IDPrefix: "whk", Plural: "webhooks",
		Fields: entity.Common("webhookId",
			entity.Field{
				Name: AttrURL, Kind: entity.Text, Required: true, Min: 1, Max: maxURL,
				Doc: "Where messages go: an https address with a name, at port 443 or 8443.",
			},
			entity.Field{
				Name: AttrEventTypes, Kind: entity.Tags, Required: true, Max: maxEventTypes, MemberMin: 1,
				MemberMax: maxEventType,
				Doc:       "The types of events, such as task.completed; task.* for all of tasks, * for all.",
			},
			entity.Field{
				Name: AttrOrdering, Kind: entity.Enum, Required: true, Default: item.String(OrderingParallel),
				Enum: []string{OrderingParallel, OrderingFifo},
				Doc:  "fifo: one message at a time, in order; the next one waits for one that fails.",
			},
			entity.Field{
				Name: AttrContent, Kind: entity.Enum, Required: true, Default: item.String(ContentThin),
				Enum: []string{ContentThin, ContentFull},
				Doc:  "thin: messages name the item alone; full: they have it whole, up to 20 KB.",
			},
			entity.Field{
				Name: entity.AttrStatus, Kind: entity.Enum, Required: true, Default: item.String(StatusActive),
				Enum: []string{StatusActive, StatusDisabled}, Doc: "The entity's state.",
			},
			entity.Field{
				Name: AttrReason, Kind: entity.Text, Origin: entity.FromServer, Max: maxEventType,
				Doc: "Why the system disabled it: gone for an answer 410, failing after 5 days without success.",
			},
			entity.Field{
				Name: AttrGeneration, Kind: entity.Integer, Required: true, Origin: entity.FromServer, Default: item.Int(1),
				Min: 1, Doc: "The number of the present secret.",
			},
			entity.Field{
				Name: AttrRotatedAt, Kind: entity.Instant, Origin: entity.FromServer,
				Doc: "When the present secret took the place of the former, which is used for 24 hours more.",
			},
			entity.Field{
				Name: AttrActiveSince, Kind: entity.Instant, Origin: entity.FromServer,
				Doc: "Since when it is active at this address.",
			},
		),
		Check:  checkWebhook,
		Derive: deriveWebhook,
	}
}

func checkWebhook(it item.Item) []entity.FieldError {
	var broken entity.Faults
	for _, one := range it.Strings(AttrEventTypes) {
		if !isEventPattern(one) {
			broken.Add(AttrEventTypes, "%q is neither *, nor a type such as task.completed, nor all such as task.*", one)
		}
	}
	return broken
}

// isEventPattern accepts *, and a word with a second one or * after a point.
func isEventPattern(text string) bool {
	of, what, has := strings.Cut(text, ".")
	return text == "*" || has && isLowerWord(of) && (what == "*" || isLowerWord(what))
}

func isLowerWord(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// deriveWebhook notes since when the endpoint is active at its address, and forgets why it was not.
func deriveWebhook(w entity.Write) {
	it := w.After
	if it.Str(entity.AttrStatus) != StatusActive {
		return
	}
	delete(it, AttrReason)
	if w.Before.Str(entity.AttrStatus) != StatusActive || w.Before.Str(AttrURL) != it.Str(AttrURL) {
		it.SetTime(AttrActiveSince, w.Now)
	}
}
