package s3

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// DeleteVersion is the second call of Purge.
func (s *Store) DeleteVersion(ctx context.Context, name, version string) error {
	return s.deleteVersions(ctx, []types.ObjectIdentifier{
		{Key: aws.String(s.cfg.Prefix + name), VersionId: aws.String(version)},
	})
}

// The calls of a Write, one by one.

func (s *Store) BeginUpload(ctx context.Context, name string) error {
	return (&upload{Store: s, ctx: ctx, name: name}).send()
}

func (s *Store) UploadPiece(ctx context.Context, name, id string) error {
	return (&upload{Store: s, ctx: ctx, name: name, id: &id}).send()
}

func (s *Store) CompleteUpload(ctx context.Context, name, id string) error {
	return (&upload{Store: s, ctx: ctx, name: name}).complete(&id, []types.CompletedPart{
		{PartNumber: aws.Int32(1), ETag: aws.String("e"), ChecksumCRC32C: aws.String(checksum(nil))},
	})
}

func (s *Store) AbortUpload(ctx context.Context, name, id string) error {
	return s.abortUpload(ctx, s.cfg.Prefix+name, &id)
}
