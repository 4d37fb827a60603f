// Package s3 stores objects in one Amazon S3 bucket, under a prefix.
//
// It promises what the port does; S3 is strongly consistent for reads and lists. Every body carries its checksum: S3
// compares it before it acknowledges, and the reader compares it again. The deployment decides the bucket's rules
// (versions, encryption, expiry). The caller's role needs s3:ListBucket in addition to the object rights: without it
// S3 answers a missing object with 403, and the adapter could never report it as not found.
package s3

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"nexus/pkg/blob"
)

// Config names the bucket and the prefix of the objects.
type Config struct {
	// Bucket is required.
	Bucket string
	// Prefix precedes every name: empty, or a name that ends with a slash.
	Prefix string
}

// Store is the adapter.
type Store struct {
	client *s3.Client
	cfg    Config
}

var _ blob.Purger = (*Store)(nil)

// New returns a store that works through the client, or an error that names the setting that is missing or wrong.
func New(client *s3.Client, cfg Config) (*Store, error) {
	if cfg.Bucket == "" {
		return nil, errors.New("object store configuration: Bucket is missing")
	}
	if cfg.Prefix != "" {
		name, ends := strings.CutSuffix(cfg.Prefix, "/")
		if err := blob.CheckName(name); err != nil || !ends {
			return nil, fmt.Errorf("object store configuration: Prefix %q, want a name and a slash", cfg.Prefix)
		}
	}
	return &Store{client: client, cfg: cfg}, nil
}

// Put implements the port.
func (s *Store) Put(ctx context.Context, name string, body []byte) error {
	if err := errors.Join(blob.CheckName(name), blob.CheckBody(body)); err != nil {
		return fmt.Errorf("put object %q: %w", name, err)
	}
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:         aws.String(s.cfg.Bucket),
		Key:            aws.String(s.cfg.Prefix + name),
		Body:           bytes.NewReader(body),
		ContentLength:  aws.Int64(int64(len(body))),
		ContentType:    aws.String(contentType(name)),
		ChecksumCRC32C: aws.String(checksum(body)),
	})
	if err != nil {
		return fmt.Errorf("put object %q: %w: %w", name, sentinel(err), err)
	}
	return nil
}

// Get implements the port.
func (s *Store) Get(ctx context.Context, name string) ([]byte, error) {
	if err := blob.CheckName(name); err != nil {
		return nil, fmt.Errorf("get object %q: %w", name, err)
	}
	var body []byte
	var err error
	for range mostReads {
		if body, err = s.get(ctx, name); !errors.Is(err, errBrokenOff) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("get object %q: %w", name, err)
	}
	return body, nil
}

// mostReads is how often an object is read whose body breaks off: the client repeats requests, but no reading.
const mostReads = 3

var errBrokenOff = errors.New("read the body")

func (s *Store) get(ctx context.Context, name string) ([]byte, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket:       aws.String(s.cfg.Bucket),
		Key:          aws.String(s.cfg.Prefix + name),
		ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sentinel(err), err)
	}
	return readBody(out.Body)
}

// readBody reads to the end, where the client compares the checksum, but not more than the largest object.
func readBody(in io.ReadCloser) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(in, blob.MaxBody+1))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, fmt.Errorf("%w: %w: %w", blob.ErrUnavailable, errBrokenOff, err)
	}
	return body, blob.CheckBody(body)
}

// Delete implements the port; S3 answers a missing object with success.
func (s *Store) Delete(ctx context.Context, name string) error {
	if err := blob.CheckName(name); err != nil {
		return fmt.Errorf("delete object %q: %w", name, err)
	}
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{
		Bucket: aws.String(s.cfg.Bucket),
		Key:    aws.String(s.cfg.Prefix + name),
	})
	if err != nil {
		return fmt.Errorf("delete object %q: %w: %w", name, sentinel(err), err)
	}
	return nil
}

// List implements the port. S3 lists in the order of bytes but may end a page early, so List reads pages until the
// limit or the end. Each page but the last advances, so the limit bounds their number.
func (s *Store) List(ctx context.Context, prefix string, limit int, after string) ([]string, error) {
	if err := blob.CheckList(prefix, limit, after); err != nil {
		return nil, fmt.Errorf("list objects %q: %w", prefix, err)
	}
	var names []string
	for {
		page, more, err := s.page(ctx, prefix, limit-len(names), after)
		if err != nil {
			return nil, fmt.Errorf("list objects %q after %q: %w", prefix, after, err)
		}
		names = append(names, page...)
		if !more || len(names) >= limit {
			return names, nil
		}
		if len(page) == 0 {
			return nil,
				fmt.Errorf("list objects %q after %q: %w: a page without names and without end", prefix, after, blob.ErrUnavailable)
		}
		after = page[len(page)-1]
	}
}

// page reads one page and reports whether another follows.
func (s *Store) page(
	ctx context.Context, prefix string, limit int, after string,
) (names []string, more bool, err error) {
	in := &s3.ListObjectsV2Input{
		Bucket:  aws.String(s.cfg.Bucket),
		Prefix:  aws.String(s.cfg.Prefix + prefix),
		MaxKeys: aws.Int32(int32(limit)),
	}
	if after != "" {
		in.StartAfter = aws.String(s.cfg.Prefix + after)
	}
	out, err := s.client.ListObjectsV2(ctx, in)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", sentinel(err), err)
	}
	for _, object := range out.Contents {
		names = append(names, strings.TrimPrefix(aws.ToString(object.Key), s.cfg.Prefix))
	}
	return names, aws.ToBool(out.IsTruncated), nil
}

func contentType(name string) string {
	switch {
	case strings.HasSuffix(name, ".json"):
		return "application/json"
	case strings.HasSuffix(name, ".ndjson"):
		return "application/x-ndjson"
	}
	return "application/octet-stream"
}

// checksum returns the body's CRC-32C in S3's form: big-endian, in base64.
func checksum(body []byte) string {
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}
