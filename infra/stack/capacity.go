package stack

import (
	"cmp"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/deploy/size"
	"nexus/pkg/product"
)

// Values of the setting tableClass.
const (
	tableStandard   = "standard"
	tableInfrequent = "infrequent"
)

// tableClasses returns the classes of a table by the values of the setting.
func tableClasses() map[string]awsdynamodb.TableClass {
	return map[string]awsdynamodb.TableClass{
		tableStandard: awsdynamodb.TableClass_STANDARD, tableInfrequent: awsdynamodb.TableClass_STANDARD_INFREQUENT_ACCESS,
	}
}

// maxParallel is Lambda's greatest ParallelizationFactor.
const maxParallel = 10

// reservable returns the functions whose reserve a stage may set. Where command and query have addresses of their own,
// nothing else bounds how many requests reach them there. A stage that closes its doors in haste keeps the reserves.
func reservable() []string {
	return []string{
		string(env.Projections), string(env.Effects), string(env.Notify), string(env.Deliver), string(env.Walk),
		string(env.Command), string(env.Query),
	}
}

// reserved returns the concurrency that a protected stage reserves for a function; 0 for none.
func (s Settings) reserved(f env.Function) int {
	return cmp.Or(s.Reserve[string(f)], size.For(f).Reserved)
}

// parallel reads how many batches of a shard the reader of a function processes at a time.
func (r *reader) parallel(setting string, f env.Function) int {
	if r.Values[setting] != nil {
		n := r.Number(setting)
		r.Refuse(n < 1 || n > maxParallel, setting, fmt.Sprintf("want a number from 1 to %d", maxParallel))
		return n
	}
	for _, line := range readers.Table(product.Registry()) {
		if line.Name == string(f) {
			return line.Parallel
		}
	}
	return 0
}
