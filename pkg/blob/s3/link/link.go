// Package link makes addresses of objects in Amazon S3, signed for reading (Amazon S3 API Reference, "Authenticating
// Requests: Using Query Parameters").
//
// It promises that an address reads the one object that it names, and ends with its time or with the credentials that
// signed it, whichever is sooner. It makes no request and does not know whether there is an object. It is apart from
// the store, so that a function that only makes addresses does not link the client of S3.
package link

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"nexus/pkg/blob"
)

const (
	signedFor = "s3"
	// unsigned stands for the hash of the body of a request that has none.
	unsigned = "UNSIGNED-PAYLOAD"
	// maxLifetime is the longest of an address.
	maxLifetime = 7 * 24 * time.Hour
)

// Config names the bucket. All fields are required.
type Config struct {
	Bucket string
	// Now dates signatures.
	Now func() time.Time
}

// Linker is the adapter.
type Linker struct {
	aws    aws.Config
	cfg    Config
	signer *v4.Signer
}

var _ blob.Linker = (*Linker)(nil)

// New returns a linker with the credentials and the region of the AWS configuration. Its BaseEndpoint, if set, replaces
// the region's; buckets are in its path. An error names the setting that is missing.
func New(in aws.Config, c Config) (*Linker, error) {
	if c.Bucket == "" || c.Now == nil || in.Region == "" || in.Credentials == nil {
		return nil, errors.New("link configuration: Bucket, Now, Region or Credentials is missing")
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	return &Linker{in, c, signer}, nil
}

// Link implements the port. The lifetime is whole seconds, up to 7 days.
func (l *Linker) Link(
	ctx context.Context, name, file string, lifetime time.Duration,
) (address string, until time.Time, err error) {
	if err := blob.CheckName(name); err != nil {
		return "", until, fmt.Errorf("link to object %q: %w", name, err)
	}
	if lifetime < time.Second || lifetime > maxLifetime {
		return "", until, fmt.Errorf("link to object %q: %w", name,
			&blob.InvalidError{Argument: "lifetime", Reason: fmt.Sprintf("is %s, want 1s to %s", lifetime, maxLifetime)})
	}
	credentials, err := l.aws.Credentials.Retrieve(ctx)
	if err != nil {
		return "", until, fmt.Errorf("link to object %q: %w: credentials: %w", name, blob.ErrUnavailable, err)
	}
	query := url.Values{"X-Amz-Expires": {strconv.Itoa(int(lifetime / time.Second))}}
	if file != "" {
		query.Set("response-content-disposition", "attachment; filename="+strconv.Quote(file))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.place()+name+"?"+query.Encode(), nil)
	if err != nil {
		return "", until, fmt.Errorf("link to object %q: %w: %w", name, blob.ErrInvalid, err)
	}
	now := l.cfg.Now()
	address, _, err = l.signer.PresignHTTP(ctx, credentials, request, unsigned, signedFor, l.aws.Region, now)
	if err != nil {
		return "", until, fmt.Errorf("link to object %q: %w: sign: %w", name, blob.ErrUnavailable, err)
	}
	return address, now.UTC().Truncate(time.Second).Add(lifetime.Truncate(time.Second)), nil
}

// place returns the address of the bucket, with a slash at its end (Amazon S3 User Guide, "Virtual hosting of general
// purpose buckets"). A name with points is in the path: no certificate covers it as a host.
func (l *Linker) place() string {
	if l.aws.BaseEndpoint != nil {
		return strings.TrimSuffix(*l.aws.BaseEndpoint, "/") + "/" + l.cfg.Bucket + "/"
	}
	domain := "s3." + l.aws.Region + ".amazonaws.com"
	if strings.HasPrefix(l.aws.Region, "cn-") {
		domain += ".cn"
	}
	if strings.Contains(l.cfg.Bucket, ".") {
		return "https://" + domain + "/" + l.cfg.Bucket + "/"
	}
	return "https://" + l.cfg.Bucket + "." + domain + "/"
}
