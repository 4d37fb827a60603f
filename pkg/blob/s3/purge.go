package s3

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"nexus/pkg/blob"
)

// Purge implements the port. It lists versions and delete markers, a thousand at a time, and deletes each by its
// version id. In a bucket without versions each object has the version id "null" (S3 User Guide, "Deleting object
// versions from a versioning-enabled bucket"). Below a folder it first ends the uploads that a crash has left: what is
// uploaded in pieces is in a folder of its own.
func (s *Store) Purge(ctx context.Context, name string) (removed int, err error) {
	if err := blob.CheckPurge(name); err != nil {
		return 0, fmt.Errorf("purge object %q: %w", name, err)
	}
	if strings.HasSuffix(name, "/") {
		if removed, err = s.abortUploads(ctx, name); err != nil {
			return removed, fmt.Errorf("purge object %q: %w", name, err)
		}
	}
	in := &s3.ListObjectVersionsInput{
		Bucket: aws.String(s.cfg.Bucket), Prefix: aws.String(s.cfg.Prefix + name), MaxKeys: aws.Int32(blob.MaxList),
	}
	for {
		page, err := s.client.ListObjectVersions(ctx, in)
		if err != nil {
			return removed, fmt.Errorf("list versions of %q: %w: %w", name, sentinel(err), err)
		}
		found := s.versions(page, name)
		if err := s.deleteVersions(ctx, found); err != nil {
			return removed, fmt.Errorf("purge object %q: %w", name, err)
		}
		removed += len(found)
		if !aws.ToBool(page.IsTruncated) {
			return removed, nil
		}
		if aws.ToString(page.NextKeyMarker) == aws.ToString(in.KeyMarker) &&
			aws.ToString(page.NextVersionIdMarker) == aws.ToString(in.VersionIdMarker) {
			return removed, fmt.Errorf("list versions of %q: %w: a page that does not move on", name, blob.ErrUnavailable)
		}
		in.KeyMarker, in.VersionIdMarker = page.NextKeyMarker, page.NextVersionIdMarker
	}
}

// abortUploads ends the multipart uploads below a folder.
func (s *Store) abortUploads(ctx context.Context, folder string) (removed int, err error) {
	in := &s3.ListMultipartUploadsInput{
		Bucket: aws.String(s.cfg.Bucket), Prefix: aws.String(s.cfg.Prefix + folder), MaxUploads: aws.Int32(blob.MaxList),
	}
	for {
		page, err := s.client.ListMultipartUploads(ctx, in)
		if err != nil {
			return removed, fmt.Errorf("list uploads: %w: %w", sentinel(err), err)
		}
		for _, u := range page.Uploads {
			if err := s.abortUpload(ctx, aws.ToString(u.Key), u.UploadId); err != nil {
				return removed, err
			}
			removed++
		}
		if !aws.ToBool(page.IsTruncated) {
			return removed, nil
		}
		if aws.ToString(page.NextKeyMarker) == aws.ToString(in.KeyMarker) &&
			aws.ToString(page.NextUploadIdMarker) == aws.ToString(in.UploadIdMarker) {
			return removed, fmt.Errorf("list uploads: %w: a page that does not move on", blob.ErrUnavailable)
		}
		in.KeyMarker, in.UploadIdMarker = page.NextKeyMarker, page.NextUploadIdMarker
	}
}

// versions returns what a page has of the object or folder. A page also has objects whose names only begin likewise.
func (s *Store) versions(page *s3.ListObjectVersionsOutput, name string) []types.ObjectIdentifier {
	var found []types.ObjectIdentifier
	add := func(key, version *string) {
		if blob.InPurge(name, strings.TrimPrefix(aws.ToString(key), s.cfg.Prefix)) {
			found = append(found, types.ObjectIdentifier{Key: key, VersionId: version})
		}
	}
	for _, v := range page.Versions {
		add(v.Key, v.VersionId)
	}
	for _, m := range page.DeleteMarkers {
		add(m.Key, m.VersionId)
	}
	return found
}

// deleteVersions deletes up to a thousand versions. The answer names those that were not deleted.
func (s *Store) deleteVersions(ctx context.Context, of []types.ObjectIdentifier) error {
	if len(of) == 0 {
		return nil
	}
	out, err := s.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket:            aws.String(s.cfg.Bucket),
		Delete:            &types.Delete{Objects: of, Quiet: aws.Bool(true)},
		ChecksumAlgorithm: types.ChecksumAlgorithmCrc32c,
	})
	if err != nil {
		return fmt.Errorf("%w: %w", sentinel(err), err)
	}
	if len(out.Errors) > 0 {
		first := out.Errors[0]
		return fmt.Errorf("%w: %d versions stay, the first of %q: %s: %s", blob.ErrUnavailable, len(out.Errors),
			aws.ToString(first.Key), aws.ToString(first.Code), aws.ToString(first.Message))
	}
	return nil
}
