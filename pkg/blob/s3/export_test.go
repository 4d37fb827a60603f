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
