package stack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

func TestAddWalking_givesTheFunctionOneMessageOfAUserAtATime(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		walks, dead := t.named("Walks", "AWS::SQS::Queue"), t.named("DeadWalks", "AWS::SQS::Queue")
		for _, q := range []resource{walks, dead} {
			require.Equal(t, true, q.at("FifoQueue"), "%s: the messages of a group come in their order", q.path())
		}
		require.Equal(t, false, walks.at("ContentBasedDeduplication"), "two messages of one content are two pieces of work")
		require.Equal(t, dead.attribute("Arn"), text(walks.at("RedrivePolicy", "deadLetterTargetArn")))
		require.Equal(t, 5.0, walks.at("RedrivePolicy", "maxReceiveCount"))
		require.GreaterOrEqual(t, walks.at("VisibilityTimeout"), 6*size.For(env.Walk).Timeout.Seconds(),
			"AWS Lambda Developer Guide: at least six times the function's timeout")

		m := t.named("WalkReader", mappingType)
		require.Equal(t, walks.attribute("Arn"), m.text("EventSourceArn"))
		require.Equal(t, t.liveName(env.Walk), m.text("FunctionName"))
		require.Equal(t, 1.0, m.at("BatchSize"))
		require.Equal(t, 5.0, m.at("ScalingConfig", "MaximumConcurrency"))
		require.LessOrEqual(t, size.WalksAtOnce, size.For(env.Walk).Reserved, "the mapping would be throttled")
		require.NotEmpty(t, alarmsOn(t, "QueueName", dead.attribute("QueueName")), alarm.DeadWalkQueue)
		require.NotEmpty(t, alarmsOn(t, "QueueName", walks.attribute("QueueName")), alarm.WalkQueue)
	})
}
