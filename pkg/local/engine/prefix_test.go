package engine_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/local/engine"
)

func TestExactPrefix_distinguishesUpperFromLowerCase(t *testing.T) {
	t.Parallel()
	s := setupStream(t, engine.Options{})
	for _, sk := range []string{"a", "a_1", "a<&>", "A_2", "ab", "aé", "b"} {
		s.put(sk, "1")
	}
	tests := map[string][]string{
		"a": {"a", "a<&>", "a_1", "ab", "aé"}, "a_": {"a_1"}, "A": {"A_2"}, "a<": {"a<&>"}, "aé": {"aé"}, "c": nil,
	}
	for prefix, want := range tests {
		out, err := s.db.Query(t.Context(), &dynamodb.QueryInput{
			TableName:              &s.table,
			KeyConditionExpression: aws.String("#p = :p AND begins_with(#s, :s)"),
			FilterExpression:       aws.String("begins_with(#n, :n)"),
			ExpressionAttributeNames: map[string]string{
				"#p": item.AttrPK, "#s": item.AttrSK, "#n": "n",
			},
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":p": row("", "")[item.AttrPK], ":s": &types.AttributeValueMemberS{Value: prefix},
				":n": &types.AttributeValueMemberS{Value: "1"},
			},
		})
		require.NoError(t, err, prefix)
		var got []string
		for _, it := range out.Items {
			got = append(got, it[item.AttrSK].(*types.AttributeValueMemberS).Value)
		}
		require.Equal(t, want, got, prefix)
	}
}
