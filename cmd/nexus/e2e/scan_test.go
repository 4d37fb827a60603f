package e2e_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
)

// row is one row of the table: its attributes as the values that clients see, sets sorted.
type row map[string]any

func (r row) text(name string) string {
	s, _ := r[name].(string)
	return s
}

func (r row) key() string { return r.text("PK") + "/" + r.text("SK") }

// kind is the sort key's prefix.
func (r row) kind() string {
	kind, _, _ := strings.Cut(r.text("SK"), "#")
	return kind
}

// user is the owner by the partition key.
func (r row) user() string { return strings.TrimPrefix(r.text("PK"), "USER#") }

// straight returns an SDK client for the engine that knows nothing of the platform.
func (s *system) straight() (*dynamodb.Client, string) {
	s.t.Helper()
	where := s.info()
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(where.Endpoint),
		Region:       "us-east-1",
		HTTPClient:   newHTTP(s.t),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "e2e", SecretAccessKey: "e2e"}, nil
		}),
	}), where.Table
}

// scan reads the whole table.
func (s *system) scan() []row {
	s.t.Helper()
	db, table := s.straight()
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	var rows []row
	for pages.HasMorePages() {
		page, err := pages.NextPage(s.t.Context())
		require.NoError(s.t, err, "scan")
		for _, item := range page.Items {
			r := row{}
			for name, v := range item {
				r[name] = plain(s.t, v)
			}
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.key(), b.key()) })
	return rows
}

// plain is an attribute value as the JSON value that stands for it.
func plain(t testing.TB, v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return json.Number(v.Value)
	case *types.AttributeValueMemberBOOL:
		return v.Value
	case *types.AttributeValueMemberNULL:
		return nil
	case *types.AttributeValueMemberB:
		return "binary " + base64.StdEncoding.EncodeToString(v.Value)
	case *types.AttributeValueMemberSS:
		return anySlice(slices.Sorted(slices.Values(v.Value)), func(s string) any { return s })
	case *types.AttributeValueMemberNS:
		numbers := slices.SortedFunc(slices.Values(v.Value), func(a, b string) int {
			x, _ := strconv.ParseInt(a, 10, 64)
			y, _ := strconv.ParseInt(b, 10, 64)
			return int(x - y)
		})
		return anySlice(numbers, func(s string) any { return json.Number(s) })
	case *types.AttributeValueMemberL:
		return anySlice(v.Value, func(v types.AttributeValue) any { return plain(t, v) })
	case *types.AttributeValueMemberM:
		out := map[string]any{}
		for name, member := range v.Value {
			out[name] = plain(t, member)
		}
		return out
	}
	require.Fail(t, fmt.Sprintf("attribute value %T", v))
	return nil
}

func anySlice[T any](in []T, each func(T) any) []any {
	out := make([]any, len(in))
	for i, v := range in {
		out[i] = each(v)
	}
	return out
}

// text is the row in one line that is the same for the same content: JSON sorts members by name.
func (r row) String() string {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Sprintf("%#v: %v", map[string]any(r), err)
	}
	return string(text)
}

// changes are the rows that differ between two scans, but for the count of requests: also those that are refused count.
func changes(before, after []row) []string {
	was := map[string]string{}
	for _, r := range before {
		was[r.key()] = r.String()
	}
	var out []string
	for _, r := range after {
		if text := r.String(); was[r.key()] != text && r.kind() != "RATE" {
			out = append(out, fmt.Sprintf("was %s, is %s", was[r.key()], text))
		}
		delete(was, r.key())
	}
	for key := range was {
		out = append(out, key+" is gone")
	}
	return out
}
