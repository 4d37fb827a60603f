package cost

// Model holds the assumptions about figures that cannot be counted here.
type Model struct {
	// Latencies of one call, measured in a function in the same region, in milliseconds.
	ReadMilliseconds        float64 `json:"readMilliseconds"`
	WriteMilliseconds       float64 `json:"writeMilliseconds"`
	TransactionMilliseconds float64 `json:"transactionMilliseconds"`
	ScheduleMilliseconds    float64 `json:"scheduleMilliseconds"`
	PublishMilliseconds     float64 `json:"publishMilliseconds"`
	ObjectMilliseconds      float64 `json:"objectMilliseconds"`
	HintMilliseconds        float64 `json:"hintMilliseconds"`
	// PushMilliseconds is the time of a request to a push service, connection included, and PushBytes what is sent with
	// it: one record of 4,096 bytes, headers and the deployment's token.
	PushMilliseconds float64 `json:"pushMilliseconds"`
	PushBytes        int     `json:"pushBytes"`
	// OwnMilliseconds is the duration of an invocation without its calls, which it makes one after another.
	OwnMilliseconds float64 `json:"ownMilliseconds"`
	// Shards of the stream at this load, which decide how many records a reader gathers in its window.
	Shards int `json:"shards"`
	// RecordLogBytes is the length that a further record of a batch adds to its log line.
	RecordLogBytes float64 `json:"recordLogBytes"`
	// Processes is the number of processes that run at any minute, each of which writes MetricBytes of metrics for its
	// consumers.
	Processes   int `json:"processes"`
	MetricBytes int `json:"metricBytes"`
	// HeaderBytes are sent to a client beside an answer's body.
	HeaderBytes int `json:"headerBytes"`
	// ConnectionOperations is the number of operations of an app that connects and subscribes: the connection, the
	// subscription, and the handler that authorizes it. One app of a user is open at a time, and gets each hint.
	ConnectionOperations float64 `json:"connectionOperations"`
	// The canary runs for CanarySeconds: it waits for its reminder. A run makes CanaryRequests, which cost CanaryUnits of
	// writes.
	CanarySeconds  float64 `json:"canarySeconds"`
	CanaryRequests float64 `json:"canaryRequests"`
	CanaryUnits    float64 `json:"canaryUnits"`
}

// DefaultModel returns assumptions on the slow side of the usual range.
func DefaultModel() Model {
	return Model{
		ReadMilliseconds: 4, WriteMilliseconds: 6, TransactionMilliseconds: 12,
		ScheduleMilliseconds: 25, PublishMilliseconds: 15, ObjectMilliseconds: 30, HintMilliseconds: 20,
		PushMilliseconds: 150, PushBytes: 5000,
		OwnMilliseconds: 2, Shards: 4, RecordLogBytes: 40, Processes: 20, MetricBytes: 1000,
		HeaderBytes: 600, ConnectionOperations: 3,
		CanarySeconds: 105, CanaryRequests: 10, CanaryUnits: 30,
	}
}
