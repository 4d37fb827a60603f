// Package access is what each function may do, and with what: the rights of its role, as data.
//
// It promises that a right stands here only if the function uses it, and only for the rows, indexes and objects that it
// uses it for. The infrastructure writes the roles from this list and from nowhere else; what it adds is what Lambda
// itself does in a function's name (read the stream, keep failed batches, write the log). It must never have an action
// that reads rows without naming a partition.
package access

import (
	"nexus/pkg/archive"
	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// Grant is a set of actions on one thing.
type Grant struct {
	// Variable names the thing: it is the variable by which the function knows it.
	Variable string
	// Index, of the table, is what the grant is for in its place.
	Index table.Index
	// Actions are those of IAM (Service Authorization Reference).
	Actions []string
	// Within are patterns of partitions, of the table or of the index, or of the names of objects or schedules: a star
	// stands for anything. None is for the thing as a whole.
	Within []string
}

// Actions on the table.
const (
	GetItem      = "dynamodb:GetItem"
	BatchGetItem = "dynamodb:BatchGetItem"
	Query        = "dynamodb:Query"
	PutItem      = "dynamodb:PutItem"
	UpdateItem   = "dynamodb:UpdateItem"
	DeleteItem   = "dynamodb:DeleteItem"
	// BatchWriteItem is the right to a batch, which needs none of those to the single writes.
	BatchWriteItem = "dynamodb:BatchWriteItem"
	// ConditionCheckItem is the right to a check in a transaction, whose writes need those to the single ones.
	ConditionCheckItem = "dynamodb:ConditionCheckItem"
	// DescribeTable tells how much the table holds.
	DescribeTable = "dynamodb:DescribeTable"
)

// Actions on objects, schedules and the bus.
const (
	GetObject    = "s3:GetObject"
	PutObject    = "s3:PutObject"
	DeleteObject = "s3:DeleteObject"
	// ListBucket is what makes S3 say that an object is not there; without it a missing one is forbidden.
	ListBucket     = "s3:ListBucket"
	PutEvents      = "events:PutEvents"
	CreateSchedule = "scheduler:CreateSchedule"
	UpdateSchedule = "scheduler:UpdateSchedule"
	DeleteSchedule = "scheduler:DeleteSchedule"
	PassRole       = "iam:PassRole"
)

// anything stands for every value of a key's part or of a name's rest.
const anything = "*"

// Of returns the function's rights.
func Of(f env.Function) []Grant {
	switch f {
	case env.Command:
		return []Grant{
			rows(all(), GetItem, BatchGetItem, Query, PutItem, UpdateItem, DeleteItem, ConditionCheckItem),
			rows(snapshots(), BatchWriteItem), // what goes ahead of a commit that is too large for one transaction
			{Variable: env.ArchiveBucket, Actions: []string{GetObject}, Within: copies()},
			{Variable: env.ArchiveBucket, Actions: []string{ListBucket}},
		}
	case env.Query:
		return []Grant{
			rows(all(), GetItem, BatchGetItem, Query),
			index(table.YearView, items()),
			index(table.StateView, items()),
			index(table.CrossLinks, []string{entity.LinkedPrefix(anything) + anything}),
		}
	case env.Projections:
		return []Grant{
			rows(items(), BatchGetItem, PutItem, UpdateItem, DeleteItem),
			rows(nil, DescribeTable),
			parking(),
		}
	case env.Effects:
		return append(reminding(),
			rows(items(), GetItem, BatchGetItem, Query, PutItem, UpdateItem, DeleteItem, ConditionCheckItem),
			Grant{Variable: env.ArchiveBucket, Actions: []string{PutObject, DeleteObject}, Within: copies()},
			parking(),
		)
	case env.Notify:
		return append(reminding(), rows(items(), GetItem, BatchGetItem, Query, PutItem, UpdateItem, ConditionCheckItem))
	}
	return nil
}

func rows(within []string, actions ...string) Grant {
	return Grant{Variable: env.TableName, Actions: actions, Within: within}
}

func index(name table.Index, within []string) Grant {
	return Grant{Variable: env.TableName, Index: name, Actions: []string{Query}, Within: within}
}

// items are the partitions of users' items and of what follows from them; all are these and those of the repositories.
func items() []string { return []string{entity.UserPK(anything)} }
func all() []string   { return append(items(), snapshots()...) }

// snapshots are the partitions of the repositories.
func snapshots() []string { return []string{entity.RepositoryPK(anything)} }

func copies() []string { return []string{archive.AllCopiesPrefix + anything} }

func parking() Grant {
	return Grant{
		Variable: env.ParkingBucket, Actions: []string{PutObject}, Within: []string{consume.ParkedPrefix + anything},
	}
}

// reminding is what the two functions that remind have in common.
func reminding() []Grant {
	return []Grant{
		{Variable: env.BusName, Actions: []string{PutEvents}},
		{Variable: env.ScheduleGroup, Actions: []string{CreateSchedule, UpdateSchedule, DeleteSchedule},
			Within: []string{anything}},
		{Variable: env.ScheduleRoleARN, Actions: []string{PassRole}},
	}
}
