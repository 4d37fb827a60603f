package stack

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/entity"
)

// tenant is the policy variable that stands for the user of whoever assumes a tenant's role: a session tag, whose value
// has to be a user id of ours.
const tenant = "${aws:PrincipalTag/user}"

// addTenants makes the policy of programs that read one user's rows without the API. It is attached to nobody: whoever
// lets users assume a role attaches it to that role. It is the tenant policy without what writes: writes go through
// commands.
func (d *deployment) addTenants() {
	p := entity.NewTenantPolicy(tenant)
	var reads []string
	for _, action := range p.Actions {
		_, name, _ := strings.Cut(action, ":")
		if strings.HasPrefix(name, "Get") || strings.HasPrefix(name, "BatchGet") || name == "Query" {
			reads = append(reads, action)
		}
	}
	resources := []string{*d.table.TableArn()}
	for _, index := range p.Indexes {
		resources = append(resources, *d.table.TableArn()+"/index/"+string(index))
	}
	awsiam.NewManagedPolicy(d.Stack, jsii.String("Tenant"), &awsiam.ManagedPolicyProps{
		Description: jsii.String("Nexus: read the rows of the user that the session is tagged with"),
		Document:    policy(allow(reads, resources, leading(p.LeadingKeys))),
	})
}
