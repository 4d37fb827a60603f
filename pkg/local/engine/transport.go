package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"

	"nexus/pkg/item"
)

// DefaultRegion is the region that answers carry unless [Options] name another.
const DefaultRegion = "us-east-1"

const (
	targetHeader = "X-Amz-Target"
	crcHeader    = "X-Amz-Crc32"

	// readAttempts bounds how often a read is sent whose answer is cut off on the way: about one large one in a thousand
	// is.
	readAttempts = 3
	// maxAnswerBytes bounds an answer in memory; the service's largest, of a batch read, is 16 MB.
	maxAnswerBytes = 64 << 20
)

// Removal is the part of a removed row's stream record that a sweep depends on: the key, and attributes of its last
// image.
type Removal struct {
	Key item.Key
	// TTL and Version are the row's last attributes; empty if it had none.
	TTL, Version item.Number
}

// Removals reports which rows were removed because they had expired. [Sweeper] is one.
type Removals interface {
	// Swept reports whether the removal was an expiry. It waits while that is being decided, until the context ends.
	Swept(ctx context.Context, removal Removal) (bool, error)
}

// Options adjust [Transport].
type Options struct {
	// Region goes into ARNs and records; empty means [DefaultRegion].
	Region string
	// Removals decides which removals carry the service's identity. Nil: none.
	Removals Removals
}

// Transport returns a round tripper for SDK clients that makes the engine behave as the service does:
//
//   - a MODIFY record whose images are equal is left out, so that a page may have fewer records, or none;
//   - the service's identity is spelt as the SDK reads it, and is in the records of rows that were swept;
//   - sequence numbers have 21 digits, an event's id is not its sequence number, ARNs and records name the region;
//   - the open shard has no ending sequence number ([Engine.Head] gives the last record's);
//   - a query by a prefix of the sort key distinguishes upper and lower case;
//   - a read whose answer is cut off is sent again.
//
// Everything else passes unchanged. Base carries the requests; nil means a transport without proxies.
func Transport(base http.RoundTripper, options Options) http.RoundTripper {
	if base == nil {
		base = directTransport()
	}
	if options.Region == "" {
		options.Region = DefaultRegion
	}
	return &transport{base: base, region: options.Region, removals: options.Removals}
}

// directTransport holds as many idle connections as a busy local system uses; the default transport holds two.
func directTransport() *http.Transport {
	direct := http.DefaultTransport.(*http.Transport).Clone()
	direct.Proxy = nil
	direct.MaxIdleConnsPerHost = 64
	return direct
}

type transport struct {
	base     http.RoundTripper
	region   string
	removals Removals
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(request.Header.Get(targetHeader), ".")
	if !isRead(operation) && !describesTable(operation) {
		return t.base.RoundTrip(request)
	}
	content, err := takeBody(request)
	if err != nil {
		return nil, err
	}
	if usesStream(operation) {
		if content, err = t.streamRequest(content); err != nil {
			return nil, err
		}
	}
	if operation == "Query" {
		if content, err = exactPrefix(content); err != nil {
			return nil, err
		}
	}
	attempts := readAttempts
	if !isRead(operation) {
		attempts = 1
	}
	response, answer, err := t.exchange(request, content, attempts)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		if answer, err = t.rewrite(request.Context(), operation, answer); err != nil {
			return nil, fmt.Errorf("answer of %s: %w", operation, err)
		}
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	response.ContentLength = int64(len(answer))
	response.Header.Set("Content-Length", strconv.Itoa(len(answer)))
	response.Header.Set(crcHeader, strconv.FormatUint(uint64(crc32.ChecksumIEEE(answer)), 10))
	return response, nil
}

func (t *transport) rewrite(ctx context.Context, operation string, answer []byte) ([]byte, error) {
	switch {
	case operation == "GetRecords":
		return t.records(ctx, answer)
	case operation == "DescribeStream":
		return t.description(answer)
	case describesTable(operation) || operation == "ListStreams":
		return t.regions(answer)
	}
	return answer, nil
}

// isRead reports whether sending the operation twice is the same as sending it once. All operations of the streams are.
func isRead(operation string) bool {
	switch operation {
	case "GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems", "DescribeTable", "ListTables":
		return true
	}
	return usesStream(operation)
}

func usesStream(operation string) bool {
	switch operation {
	case "GetRecords", "GetShardIterator", "DescribeStream", "ListStreams":
		return true
	}
	return false
}

// describesTable reports whether the answer is a table's description, which holds ARNs and no row of a user.
func describesTable(operation string) bool {
	switch operation {
	case "CreateTable", "DescribeTable", "UpdateTable", "DeleteTable":
		return true
	}
	return false
}

// exchange sends the request and reads the whole answer, again from the start if it is cut off.
func (t *transport) exchange(request *http.Request, content []byte, attempts int) (*http.Response, []byte, error) {
	for attempt := 1; ; attempt++ {
		response, answer, err := t.once(request, content)
		if err == nil {
			return response, answer, nil
		}
		if attempt >= attempts || request.Context().Err() != nil {
			return nil, nil, err
		}
	}
}

func (t *transport) once(request *http.Request, content []byte) (*http.Response, []byte, error) {
	sent := request.Clone(request.Context())
	sent.Body = io.NopCloser(bytes.NewReader(content))
	sent.ContentLength = int64(len(content))
	sent.GetBody = nil
	response, err := t.base.RoundTrip(sent)
	if err != nil {
		return nil, nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	err = errors.Join(err, response.Body.Close())
	if err == nil && len(answer) > maxAnswerBytes {
		err = fmt.Errorf("answer of more than %d bytes", maxAnswerBytes)
	}
	return response, answer, err
}

// takeBody reads the request's body and closes it, which is a round tripper's duty.
func takeBody(request *http.Request) ([]byte, error) {
	if request.Body == nil {
		return nil, nil
	}
	content, err := io.ReadAll(request.Body)
	return content, errors.Join(err, request.Body.Close())
}
