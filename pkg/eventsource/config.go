package eventsource

import (
	"errors"
	"fmt"
	"time"
)

// Bounds that Lambda sets on a mapping of a DynamoDB stream (CreateEventSourceMapping in its API reference).
const (
	DefaultBatchSize = 100
	maxBatchSize     = 10_000
	maxWindow        = 300 * time.Second
	MaxRetryAttempts = 10_000
	minAge, maxAge   = time.Minute, 7 * 24 * time.Hour
	// maxPatterns is the number of filters of a mapping under the account's default quota.
	maxPatterns = 5
	// maxEventBytes bounds the payload of a synchronous invocation; a bigger batch is cut before it is sent.
	maxEventBytes = 6 << 20
)

// Config is one event source mapping as data: the local platform runs it and the infrastructure deploys it.
type Config struct {
	// Name is the function's name. It names the checkpoints and appears in failure objects.
	Name string
	// FunctionARN appears in failure objects; if empty, they have one made of Name.
	FunctionARN string
	// Filter decides which records reach the handler; an empty one passes all.
	Filter Filter
	// BatchSize is the largest number of records in one event; 0 means [DefaultBatchSize].
	BatchSize int
	// Window is how long records are gathered before the handler is called with less than a full batch, in whole seconds.
	Window time.Duration
	// RetryAttempts bounds how often a failed batch is delivered again before it is given up (Lambda's
	// MaximumRetryAttempts). 0 means Lambda's default of -1: without end, or until MaxAge.
	RetryAttempts int
	// MaxAge is the age, by the record's creation, from which a failed record is given up instead of retried, in whole
	// seconds. 0 means Lambda's default of -1: none. A record is always tried once, however old it is.
	MaxAge time.Duration
	// Bisect cuts a failed batch in two, which uses up no retry, so that one bad record ends up alone.
	Bisect bool
	// Timeout is the function's own: the handler's context ends after it and a later answer counts as a failure. 0 means
	// none.
	Timeout time.Duration
}

// Validate returns everything about the configuration that Lambda would refuse.
func (c Config) Validate() error {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(c.Name == "", "name is empty")
	refuse(c.BatchSize < 0 || c.BatchSize > maxBatchSize, "batch size %d is not in 1..%d", c.BatchSize, maxBatchSize)
	refuse(c.Window < 0 || c.Window > maxWindow || c.Window%time.Second != 0, "window %s is not 0 to %s in whole seconds",
		c.Window, maxWindow)
	refuse(c.RetryAttempts < 0 || c.RetryAttempts > MaxRetryAttempts,
		"retry attempts %d are not in 0..%d", c.RetryAttempts, MaxRetryAttempts)
	refuse(c.MaxAge != 0 && (c.MaxAge < minAge || c.MaxAge > maxAge || c.MaxAge%time.Second != 0),
		"maximum age %s is not %s to %s in whole seconds", c.MaxAge, minAge, maxAge)
	refuse(c.Timeout < 0, "timeout %s is negative", c.Timeout)
	refuse(len(c.Filter) > maxPatterns, "%d filter patterns, at most %d are allowed", len(c.Filter), maxPatterns)
	for i, p := range c.Filter {
		if err := p.validate(); err != nil {
			errs = append(errs, fmt.Errorf("filter pattern %d: %w", i, err))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("event source mapping %q: %w", c.Name, errors.Join(errs...))
	}
	return nil
}

// givesUp reports whether the mapping ever hands a record to its on-failure destination.
func (c Config) givesUp() bool { return c.RetryAttempts > 0 || c.MaxAge > 0 }

func (c Config) withDefaults() Config {
	if c.BatchSize == 0 {
		c.BatchSize = DefaultBatchSize
	}
	if c.FunctionARN == "" {
		c.FunctionARN = "arn:aws:lambda:us-east-1:000000000000:function:" + c.Name
	}
	return c
}
