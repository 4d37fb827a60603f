package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/tenant"
)

// tenantTag is the policy variable that IAM replaces by the user of a session. It is a session tag, whose value must
// be a user id of Nexus.
const tenantTag = "${aws:PrincipalTag/user}"

// addTenants makes the policy of programs that read one user's rows without the API. It is attached to no role: the
// operator who lets users assume a role attaches it to that role.
func (d *deployment) addTenants() {
	p := tenant.New(tenantTag)
	resources := []string{*d.table.TableArn()}
	for _, index := range p.Indexes {
		resources = append(resources, *d.table.TableArn()+"/index/"+string(index))
	}
	awsiam.NewManagedPolicy(d.Stack, jsii.String("Tenant"), &awsiam.ManagedPolicyProps{
		Description: jsii.String("Nexus: read the rows of the user that the session is tagged with"),
		Document:    policy(allow(p.Actions, resources, leading(p.LeadingKeys))),
	})
}
