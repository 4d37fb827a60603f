package stack_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/register"
)

// What ends by itself ends when the register says.
func TestBucket_keepsDataAsLongAsTheRegisterSays(t *testing.T) {
	t.Parallel()
	until := func(place register.Place, name string) string {
		line, ok := register.Find(place, name)
		require.True(t, ok, name)
		return line.Until
	}
	each(t, func(t *template) {
		rules := t.named("Parking/Resource", "AWS::S3::Bucket").at("LifecycleConfiguration", "Rules").([]any)
		require.Len(t, rules, 2)
		require.Equal(t, "parked/", rules[0].(map[string]any)["Prefix"])
		rule := rules[1].(map[string]any)
		require.Equal(t, "aws/lambda/", rule["Prefix"])
		require.Equal(t, until(register.Parking, "aws/lambda/m/x"),
			fmt.Sprintf("%v days, and %v of a version that is not current", rule["ExpirationInDays"],
				rule["NoncurrentVersionExpiration"].(map[string]any)["NoncurrentDays"]))
		kept := t.named("Archive/Resource", "AWS::S3::Bucket").at("LifecycleConfiguration", "Rules").([]any)
		listed := kept[len(kept)-1].(map[string]any)
		require.Equal(t, "erased/", listed["Prefix"])
		require.Equal(t, until(register.Archive, "erased/x"),
			fmt.Sprintf("%v days, and %v of a version that is not current", listed["ExpirationInDays"],
				listed["NoncurrentVersionExpiration"].(map[string]any)["NoncurrentDays"]))
		for construct, queue := range map[string]string{
			"Undelivered": alarm.ScheduleQueue, "Failed": alarm.NotifyQueue,
			"Walks": alarm.WalkQueue, "DeadWalks": alarm.DeadWalkQueue,
		} {
			seconds := t.named(construct, "AWS::SQS::Queue").at("MessageRetentionPeriod").(float64)
			require.Equal(t, until(register.Queue, queue), fmt.Sprintf("%v days", seconds/86400))
		}
	})
}
