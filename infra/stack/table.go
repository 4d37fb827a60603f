package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/table"
)

// recoveryDays is the longest window of point-in-time recovery that DynamoDB offers.
const recoveryDays = 35

// addTable makes the one table of the product, or uses the restored one. A protected stage preserves its own table,
// which then leaves the stack. That of another stage stays in the stack with a policy that preserves it: CloudFormation
// would delete a table that leaves by the policy of the deployment before.
func (d *deployment) addTable() {
	if stream := d.settings.RestoredStream; stream != "" {
		if !d.settings.Protected {
			d.newTable(awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE)
		}
		d.table = awsdynamodb.TableV2_FromTableAttributes(d.Stack, jsii.String("Restored"), &awsdynamodb.TableAttributesV2{
			TableArn: jsii.String(streamForm.FindStringSubmatch(stream)[1]), TableStreamArn: jsii.String(stream),
		})
		return
	}
	d.table = d.newTable(d.removalPolicy())
}

// newTable makes a table of the schema. It is of the kind that can get replicas in other regions; the older kind would
// have to be replaced for that.
func (d *deployment) newTable(policy awscdk.RemovalPolicy) awsdynamodb.ITableV2 {
	schema := table.ProductSchema()
	props := &awsdynamodb.TablePropsV2{
		TableName:                        jsii.String(schema.Name),
		PartitionKey:                     key(schema.PK),
		SortKey:                          key(schema.SK),
		Billing:                          d.settings.billing(),
		WarmThroughput:                   d.settings.warm(),
		DynamoStream:                     awsdynamodb.StreamViewType(schema.StreamView),
		TimeToLiveAttribute:              jsii.String(schema.TTL),
		PointInTimeRecoverySpecification: recovery(),
		TableClass:                       tableClasses()[d.settings.TableClass],
		Replicas:                         d.replicas(),
		DeletionProtection:               jsii.Bool(d.settings.Protected),
		RemovalPolicy:                    policy,
	}
	var indexes []*awsdynamodb.GlobalSecondaryIndexPropsV2
	for _, index := range schema.Indexes {
		projection := awsdynamodb.ProjectionType_ALL
		if index.KeysOnly {
			projection = awsdynamodb.ProjectionType_KEYS_ONLY
		}
		indexes = append(indexes, &awsdynamodb.GlobalSecondaryIndexPropsV2{
			IndexName: jsii.String(string(index.Name)), PartitionKey: key(index.PK), SortKey: key(index.SK),
			ProjectionType:      projection,
			MaxReadRequestUnits: units(d.settings.ReadUnits), MaxWriteRequestUnits: units(d.settings.WriteUnits),
			WarmThroughput: d.settings.warm(),
		})
	}
	props.GlobalSecondaryIndexes = &indexes
	return awsdynamodb.NewTableV2(d.Stack, jsii.String("Table"), props)
}

// recovery switches recovery to any second of the window on.
func recovery() *awsdynamodb.PointInTimeRecoverySpecification {
	return &awsdynamodb.PointInTimeRecoverySpecification{
		PointInTimeRecoveryEnabled: jsii.Bool(true), RecoveryPeriodInDays: jsii.Number(recoveryDays),
	}
}

// key describes a key attribute; all of them are texts.
func key(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
}
