package local

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"nexus/pkg/eventsource"
	"nexus/pkg/eventsource/streams"
)

// arnParts are the parts of a stream's ARN: arn, partition, service, region, account, resource.
const arnParts = 6

// NewStream returns a source over the stream with that ARN, with the credentials of the environment, and a function
// that closes its connections. Without an endpoint it uses the service of the ARN's region. It reports records that
// were trimmed before they could be read to onGap.
func NewStream(endpoint, streamARN string, onGap func(streams.Gap)) (eventsource.Source, func(), error) {
	if endpoint != "" {
		if _, err := (Options{Endpoint: endpoint}).normal(); err != nil {
			return nil, nil, err
		}
	}
	parts := strings.SplitN(streamARN, ":", arnParts)
	if len(parts) < arnParts || parts[0] != "arn" || parts[2] != "dynamodb" || !strings.Contains(parts[5], "/stream/") {
		return nil, nil, fmt.Errorf("%w: %.200q is no ARN of a table's stream", ErrOptions, streamARN)
	}
	base := newTransport()
	cfg := serviceConfig(endpoint, base)
	if endpoint == "" {
		cfg.BaseEndpoint = nil
	}
	if parts[3] != "" {
		cfg.Region = parts[3]
	}
	return streams.New(dynamodbstreams.NewFromConfig(cfg), streamARN, onGap), base.CloseIdleConnections, nil
}
