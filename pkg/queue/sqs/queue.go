// Package sqs puts messages into a FIFO queue of Amazon SQS.
//
// It promises what the port does, with a queue and an event source mapping that the infrastructure sets up: one message
// a call of the worker, redrive to the dead letters after [queue.MaxReceives], and no deduplication by content. SQS
// delivers a FIFO queue's messages once for each receipt; a worker that exceeds the queue's visibility timeout gets its
// message again. It must never receive or delete a message: the event source mapping does.
package sqs

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	portaws "nexus/pkg/port/aws"
	"nexus/pkg/queue"
)

// Config names the queue.
type Config struct {
	URL string // of the FIFO queue. Required.
}

// Queue is the adapter.
type Queue struct {
	client *sqs.Client
	url    string
}

var _ queue.Queue = (*Queue)(nil)

// New returns a queue that works through the client, or an error that names the setting that is missing.
func New(client *sqs.Client, cfg Config) (*Queue, error) {
	if cfg.URL == "" {
		return nil, errors.New("queue configuration: URL is missing")
	}
	return &Queue{client: client, url: cfg.URL}, nil
}

// Put implements the port. A request that the client repeats has the same deduplication id, so it adds one message.
func (q *Queue) Put(ctx context.Context, m queue.Message) error {
	if err := m.Check(); err != nil {
		return fmt.Errorf("put message %s: %w", m.ID, err)
	}
	_, err := q.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:               aws.String(q.url),
		MessageBody:            aws.String(string(m.Body)),
		MessageGroupId:         aws.String(m.Group),
		MessageDeduplicationId: aws.String(m.ID),
	})
	if err != nil {
		return fmt.Errorf("put message %s: %w: %w", m.ID, sentinel(err), err)
	}
	return nil
}

// sentinel maps the client's error to one of the port's errors. A missing queue or key, missing rights and expired
// credentials count as unavailable: the message is valid, and the call succeeds once the deployment is corrected.
func sentinel(err error) error {
	if portaws.IsThrottled(err) {
		return queue.ErrThrottled
	}
	switch code, _ := portaws.Code(err); code {
	case "KmsThrottled", "OverLimit":
		return queue.ErrThrottled
	case "InvalidMessageContents":
		return queue.ErrInvalid
	}
	return queue.ErrUnavailable
}
