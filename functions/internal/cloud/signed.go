package cloud

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// signed returns a POST to a service of the region, signed by the SDK's signer. It is for services of which one request
// is made: the client of a service is larger than all else of a function.
func signed(
	ctx context.Context, cfg aws.Config, service, path string, body []byte, header http.Header,
) (*http.Request, error) {
	endpoint := "https://" + service + "." + cfg.Region + ".amazonaws.com"
	if cfg.BaseEndpoint != nil {
		endpoint = *cfg.BaseEndpoint
	}
	credentials, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, header)
	sum := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(ctx, credentials, request, hex.EncodeToString(sum[:]), service, cfg.Region, time.Now())
	return request, err
}
