package stack

import (
	"regexp"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"
)

// Settings of where a stage is.
const (
	region   = "region"
	replicas = "replicas"
)

// Regions are where a stage is.
type Regions struct {
	// Region is the stage's region; empty for that of the deployer's environment.
	Region string
	// Replicas are other regions that have a replica of the table, which a stage there can take over. Nothing else is
	// there, and only the stage's region writes.
	Replicas []string
}

var regionForm = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]+$`)

// regions reads where a stage is. The CDK makes no replica of a stack that does not know its own region.
func (r *reader) regions() Regions {
	s := Regions{Region: r.Text(region), Replicas: r.List(replicas)}
	r.Refuse(s.Region != "" && !regionForm.MatchString(s.Region), region, "want a region's name")
	for i, other := range s.Replicas {
		r.Refuse(!regionForm.MatchString(other), replicas, "want names of regions")
		r.Refuse(other == s.Region || slices.Contains(s.Replicas[:i], other), replicas, other+" is named twice")
	}
	r.Refuse(len(s.Replicas) > 0 && s.Region == "", replicas, "want the stage's own "+region+", too")
	return s
}

// environment returns the environment of the stage's stacks. A stage without a region has none, and its template fits
// every account and region.
func (s Regions) environment() *awscdk.Environment {
	if s.Region == "" {
		return nil
	}
	return &awscdk.Environment{Region: jsii.String(s.Region)}
}

// replicas describes the table's replicas: as protected and recoverable as the table, with its tags, and without a
// reader of their streams.
func (d *deployment) replicas() *[]*awsdynamodb.ReplicaTableProps {
	if len(d.settings.Replicas) == 0 {
		return nil
	}
	var out []*awsdynamodb.ReplicaTableProps
	for _, other := range d.settings.Replicas {
		var tags []*awscdk.CfnTag
		for _, tag := range d.settings.tags() {
			tags = append(tags, &awscdk.CfnTag{Key: jsii.String(tag[0]), Value: jsii.String(tag[1])})
		}
		out = append(out, &awsdynamodb.ReplicaTableProps{
			Region: jsii.String(other), DeletionProtection: jsii.Bool(d.settings.Protected),
			PointInTimeRecoverySpecification: recovery(), Tags: &tags,
		})
	}
	return &out
}
