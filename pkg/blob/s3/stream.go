package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"nexus/pkg/blob"
	portaws "nexus/pkg/port/aws"
)

const (
	// pieceBytes is the size of a part of an upload, and what a Write keeps in memory. S3 takes parts from 5 MB on but the
	// last, and 10,000 of them: 80 GB (S3 User Guide, "Amazon S3 multipart upload limits").
	pieceBytes = 8 << 20
	maxPieces  = 10_000
	// abortBound bounds the call that ends an upload whose caller has ended.
	abortBound = 10 * time.Second
)

var _ blob.Streamer = (*Store)(nil)

// Write implements the port. A body of up to one piece is put; a longer one is a multipart upload, which is aborted if
// it fails. The bucket's rules and Purge end an upload that a crash leaves.
func (s *Store) Write(ctx context.Context, name string, fill func(io.Writer) error) error {
	if err := blob.CheckName(name); err != nil {
		return fmt.Errorf("write object %q: %w", name, err)
	}
	u := &upload{Store: s, ctx: ctx, name: name}
	err := fill(u)
	if u.failed != nil { // also if fill made an error of its own of it
		err = fmt.Errorf("write object %q: %w", name, u.failed)
	}
	if err == nil {
		if err = u.end(); err == nil {
			return nil
		}
		err = fmt.Errorf("write object %q: %w", name, err)
	}
	return errors.Join(err, u.abort())
}

// upload is a Write that is under way.
type upload struct {
	*Store
	ctx    context.Context
	name   string
	piece  bytes.Buffer
	id     *string // of the multipart upload; nil before the first piece
	parts  []types.CompletedPart
	failed error
}

// Write takes some of the body.
func (u *upload) Write(text []byte) (n int, err error) {
	for len(text) > 0 && u.failed == nil {
		if u.piece.Len() == pieceBytes { // there is more than one piece
			if u.failed = u.send(); u.failed != nil {
				break
			}
		}
		some := text[:min(len(text), pieceBytes-u.piece.Len())]
		u.piece.Write(some)
		n, text = n+len(some), text[len(some):]
	}
	return n, u.failed
}

// send uploads the piece.
func (u *upload) send() error {
	if u.id == nil {
		out, err := u.client.CreateMultipartUpload(u.ctx, &s3.CreateMultipartUploadInput{
			Bucket: aws.String(u.cfg.Bucket), Key: aws.String(u.cfg.Prefix + u.name),
			ContentType: aws.String(contentType(u.name)), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32c,
		})
		if err != nil {
			return fmt.Errorf("begin the upload: %w: %w", sentinel(err), err)
		}
		u.id = out.UploadId
	}
	if len(u.parts) == maxPieces {
		return &blob.InvalidError{Argument: "body", Reason: fmt.Sprintf("has more than %d pieces", maxPieces)}
	}
	body := u.piece.Bytes()
	part := types.CompletedPart{
		PartNumber: aws.Int32(int32(len(u.parts) + 1)), ChecksumCRC32C: aws.String(checksum(body)),
	}
	out, err := u.client.UploadPart(u.ctx, &s3.UploadPartInput{
		Bucket: aws.String(u.cfg.Bucket), Key: aws.String(u.cfg.Prefix + u.name), UploadId: u.id,
		PartNumber: part.PartNumber, Body: bytes.NewReader(body), ContentLength: aws.Int64(int64(len(body))),
		ChecksumCRC32C: part.ChecksumCRC32C,
	})
	if err != nil {
		return fmt.Errorf("upload piece %d: %w: %w", len(u.parts)+1, sentinel(err), err)
	}
	part.ETag = out.ETag
	u.parts = append(u.parts, part)
	u.piece.Reset()
	return nil
}

// end makes the object of what was written. The store's client may repeat a completion whose answer was lost: then the
// answer is an error though the object is there.
func (u *upload) end() error {
	if u.id == nil {
		return u.Put(u.ctx, u.name, u.piece.Bytes())
	}
	if err := u.send(); err != nil {
		return err
	}
	return u.complete(u.id, u.parts)
}

func (u *upload) complete(id *string, parts []types.CompletedPart) error {
	_, err := u.client.CompleteMultipartUpload(u.ctx, &s3.CompleteMultipartUploadInput{
		Bucket: aws.String(u.cfg.Bucket), Key: aws.String(u.cfg.Prefix + u.name), UploadId: id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	if err != nil {
		return fmt.Errorf("complete the upload: %w: %w", sentinel(err), err)
	}
	return nil
}

// abort ends an upload that failed, also if its caller has ended.
func (u *upload) abort() error {
	if u.id == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), abortBound)
	defer cancel()
	return u.abortUpload(ctx, u.cfg.Prefix+u.name, u.id)
}

// abortUpload removes the pieces of an upload. One that is not there is aborted.
func (s *Store) abortUpload(ctx context.Context, key string, id *string) error {
	_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: aws.String(s.cfg.Bucket), Key: aws.String(key), UploadId: id,
	})
	if code, _ := portaws.Code(err); err != nil && code != "NoSuchUpload" {
		return fmt.Errorf("abort an upload: %w: %w", sentinel(err), err)
	}
	return nil
}

// Open implements the port. S3 has checksums of the pieces of an upload alone, which it compared when it got them.
func (s *Store) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := blob.CheckName(name); err != nil {
		return nil, fmt.Errorf("open object %q: %w", name, err)
	}
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: aws.String(s.cfg.Bucket), Key: aws.String(s.cfg.Prefix + name), ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return nil, fmt.Errorf("open object %q: %w: %w", name, sentinel(err), err)
	}
	return out.Body, nil
}
