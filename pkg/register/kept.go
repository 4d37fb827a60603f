package register

// whileItLives says how long things are kept while the account lives, where that is neither the account's life nor the
// time in which they end by themselves. The shape tells.
var whileItLives = map[string]string{
	"EVENT#<id>": untilDeleted, "MASTER#<id>": untilDeleted, "TASK#<id>": untilDeleted, "REMINDER#<id>": untilDeleted,
	"NOTE#<id>": untilDeleted, "WEBHOOK#<id>": untilDeleted, "INSTANCE#<masterId>#<date>": untilDeleted,
	"LINK#<srcType>#<srcId>#<dstType>#<dstId>":        withItem,
	"LEDGER#<projection>#<itemId>":                    withItem + ", a completion also with its cold copy",
	"KEPT#<sort key of an item…>":                     withItem + ", also of a cold copy",
	"TIMER#ARCHIVE#<taskId>#<version>":                "until then",
	"FIRED#<itemId>#<offset>#<occurrence>#<due>":      "30 days",
	"COLD#<itemId>":                                   "the account, or until it is restored",
	"RECEIPT#<hash>":                                  "24 hours; of a command of a batch 90 days",
	"ZONE#<USER_META version>":                        "30 days",
	"SERIES#<masterId>#<version>":                     "30 days",
	"RATE#<policy>":                                   "a day after the last use",
	"FEED#u":                                          "until it is revoked",
	"CHANGE#open":                                     "40 minutes",
	"CHANGE#<n>":                                      "90 days",
	"DEVICE#<deviceId>":                               "180 days after it was last registered",
	"PUSH#<deliveryId>#<deviceId>":                    "30 days",
	"ACT#<deliveryId>":                                "30 days",
	"MSG#<hook>#<at>#<version>#<messageId>":           "30 days after its end",
	"OUT#<hook>#<at>#<version>#<messageId>":           "until it is sent, or given up",
	"LANE#<hook>":                                     "with the webhook",
	"EXPORT#<id>":                                     "8 days after the last change",
	"IMPORT#u":                                        "30 days after its end",
	"REV#VALUES#<Z>#<revId>":                          untilPruned,
	"NODE#<nodeId>":                                   untilPruned,
	"EDGE#<parentId>#<n>#<childId>":                   untilPruned,
	"REV#<Z>#<revId>":                                 untilPruned,
	"TODO#<n>#A#<actionId>":                           untilPruned,
	"BLOCK#<Z>#<blockId>":                             untilPruned,
	"DRAFT#VALUES#<revId>":                            "a commit; of one that failed until a repair",
	"DRAFT#PLAN#<date>#<revId>":                       "a commit; of one that failed until a repair",
	"PLAN#<date>":                                     "with the plan",
	"HEAD":                                            "until the plan is deleted",
	archived + "<u>/<itemId>/<version>.json":          "the account; former versions 30 days",
	exported + "<u>/<id>/account.zip":                 "7 days",
	exported + "<u>/<id>/parts/<stage>-<n>.part":      "until the job has ended",
	snapped + "<u>/<kind>/<row>-<x>":                  "30 days",
	"parked/<consumer>/.unreadable/<digest>.json":     parkedFor,
	"parked/<consumer>/<u>/.<digest>/<sequence>.json": parkedFor,
	"parked/<consumer>/<u>/<itemId>/<version>-<sequence>.json": parkedFor,
	"reminder-<11 of the user's digest>-<digest>":              "until it has rung",
	"push-<11 of the user's digest>-<digest>":                  "until it was called",
	"hook-<11 of the user's digest>-<digest>":                  "until it was called",
}

const (
	untilDeleted = "until it is deleted or expires"
	withItem     = "with the item"
	untilPruned  = "until it is pruned"
	parkedFor    = "180 days"
)

// Kept says how long the data are kept while the account lives.
func (l Line) Kept() string {
	if text, ok := whileItLives[l.Shape]; ok {
		return text
	}
	switch l.Erasure {
	case ByWaiting:
		return l.Until
	case Never:
		return "the deployment"
	}
	return "the account"
}
