// Package access lists the rights of each function's role, as data.
//
// It promises that a right is listed only if the function uses it, and only for the rows, indexes and objects that it
// uses it for. The infrastructure writes the roles from this list alone. It adds only what Lambda itself does in a
// function's name (read the stream, store failed batches, write the log). It must never have an action that reads rows
// without naming a partition.
package access

import (
	"slices"

	"nexus/pkg/account"
	"nexus/pkg/archive"
	"nexus/pkg/consume"
	"nexus/pkg/deliver"
	"nexus/pkg/deploy/env"
	"nexus/pkg/entity"
	accountkeys "nexus/pkg/entity/account"
	"nexus/pkg/entity/departure"
	"nexus/pkg/entity/repository"
	"nexus/pkg/limit"
	"nexus/pkg/product"
	"nexus/pkg/push"
	"nexus/pkg/snapshot"
	"nexus/pkg/table"
	"nexus/pkg/transfer"
	"nexus/pkg/webhook"
)

// Grant is a set of actions on one thing.
type Grant struct {
	// Variable identifies the thing: the variable in which the function has its name. Empty for an action that knows no
	// resources.
	Variable string
	// Index, of the table, replaces the table as the subject of the grant.
	Index table.Index
	// Actions are those of IAM (Service Authorization Reference).
	Actions []string
	// Within are patterns of partitions, of the table or of the index, or of the names of objects, schedules or
	// namespaces: a star matches anything. Without patterns the grant covers the whole thing.
	Within []string
	// Attributes, of the table, are the only attributes that the grant reaches, beside the key's; empty for all.
	Attributes []string
}

// Actions on the table.
const (
	GetItem      = "dynamodb:GetItem"
	BatchGetItem = "dynamodb:BatchGetItem"
	Query        = "dynamodb:Query"
	PutItem      = "dynamodb:PutItem"
	UpdateItem   = "dynamodb:UpdateItem"
	DeleteItem   = "dynamodb:DeleteItem"
	// BatchWriteItem is the right to a batch, which needs no right to the single writes.
	BatchWriteItem = "dynamodb:BatchWriteItem"
	// ConditionCheckItem is the right to a check in a transaction; the transaction's writes need the rights to the single
	// ones.
	ConditionCheckItem = "dynamodb:ConditionCheckItem"
	// DescribeTable reports how much the table holds.
	DescribeTable = "dynamodb:DescribeTable"
)

// Actions on objects, schedules, the bus, queues and live hints.
const (
	GetObject    = "s3:GetObject"
	PutObject    = "s3:PutObject"
	DeleteObject = "s3:DeleteObject"
	// ListBucket lets S3 report a missing object as missing; without it S3 answers forbidden.
	ListBucket = "s3:ListBucket"
	// ListBucketVersions and DeleteObjectVersion are the rights to remove what a versioned bucket keeps.
	ListBucketVersions  = "s3:ListBucketVersions"
	DeleteObjectVersion = "s3:DeleteObjectVersion"
	// ListUploads and AbortUpload are the rights to remove what an interrupted upload left.
	ListUploads    = "s3:ListBucketMultipartUploads"
	AbortUpload    = "s3:AbortMultipartUpload"
	PutEvents      = "events:PutEvents"
	CreateSchedule = "scheduler:CreateSchedule"
	UpdateSchedule = "scheduler:UpdateSchedule"
	DeleteSchedule = "scheduler:DeleteSchedule"
	// ListSchedules is on everything or on nothing (Service Authorization Reference, "Amazon EventBridge Scheduler").
	ListSchedules = "scheduler:ListSchedules"
	PassRole      = "iam:PassRole"
	SendMessage   = "sqs:SendMessage"
	// EventPublish is the right to publish in a namespace of an event API.
	EventPublish   = "appsync:EventPublish"
	InvokeFunction = "lambda:InvokeFunction"
	// GetParameter needs no right to the key of a SecureString: AWS's own key for parameters is for everybody in the
	// account who may read one (AWS Systems Manager User Guide, "SecureString parameters").
	GetParameter = "ssm:GetParameter"
)

// anything matches every value of a key's part or of a name's rest.
const anything = "*"

// Grants returns the function's rights.
func Grants(f env.Function) []Grant {
	switch f {
	case env.Command:
		return []Grant{
			states(),
			rows(all(), GetItem, BatchGetItem, Query, PutItem, UpdateItem, DeleteItem, ConditionCheckItem),
			rows(snapshots(), BatchWriteItem), // rows written before a commit that is too large for one transaction
			{Variable: env.ArchiveBucket, Actions: []string{GetObject}, Within: copies()},
			{Variable: env.ArchiveBucket, Actions: []string{ListBucket}},
			// An account leaves and returns: its row, with the check of the pepper, and the object of the request.
			rows([]string{departure.AllStatePKs()}, GetItem, PutItem, DeleteItem),
			rows([]string{departure.PepperKey().PK}, PutItem),
			{Variable: env.ArchiveBucket, Actions: []string{PutObject, DeleteObject}, Within: requests()},
			{Variable: env.ArchiveBucket, Actions: []string{GetObject, PutObject}, Within: []string{account.PepperObject}},
			// The file of an export that its user deletes goes at once. Its versions are left to account.
			{Variable: env.ArchiveBucket, Actions: []string{DeleteObject}, Within: exports()},
			{Variable: env.DeliverARN, Actions: []string{InvokeFunction}},
			{Variable: env.HookKeyParameter, Actions: []string{GetParameter}},
		}
	case env.Query:
		return []Grant{
			states(),
			rows(all(), GetItem, BatchGetItem, Query),
			// It counts what its users ask, and can change nothing else of a row.
			{Variable: env.TableName, Actions: []string{UpdateItem}, Within: items(), Attributes: limit.Attributes()},
			index(table.YearView, items()),
			index(table.StateView, items()),
			index(table.CrossLinks, []string{entity.LinkedPrefix(anything) + anything}),
			// An address of a file has the rights of the function that signed it.
			{Variable: env.ArchiveBucket, Actions: []string{GetObject}, Within: exports()},
			// It keeps indexes of words, and removes those that are of no use.
			{Variable: env.SnapshotBucket, Actions: []string{GetObject, PutObject, DeleteObject}, Within: indexes()},
			{Variable: env.SnapshotBucket, Actions: []string{ListBucket}},
		}
	case env.Projections:
		return []Grant{
			states(),
			// The first and the last are for what a crash leaves: rows that a repair staged, an entry that the store refuses.
			// Query is for change logs.
			rows(items(), GetItem, BatchGetItem, Query, PutItem, UpdateItem, DeleteItem, ConditionCheckItem),
			rows(nil, DescribeTable),
			{Variable: env.HintsHost, Actions: []string{EventPublish}, Within: []string{"channelNamespace/" + push.Namespace}},
			parking(),
		}
	case env.Effects:
		return append(reminding(),
			states(),
			rows(items(), GetItem, BatchGetItem, Query, PutItem, UpdateItem, DeleteItem, ConditionCheckItem),
			Grant{Variable: env.ArchiveBucket, Actions: []string{PutObject, DeleteObject}, Within: copies()},
			Grant{Variable: env.DeliverARN, Actions: []string{InvokeFunction}},
			parking(), walks(),
		)
	case env.Walk:
		return append(reminding(), states(),
			rows(items(), GetItem, BatchGetItem, Query, PutItem, UpdateItem, ConditionCheckItem), walks())
	case env.Account:
		return append(erasing(), exporting()...)
	case env.Deliver:
		return []Grant{
			states(),
			rows(items(), GetItem, BatchGetItem, Query),
			{Variable: env.TableName, Actions: []string{PutItem, UpdateItem, DeleteItem, ConditionCheckItem}, Within: items(),
				Attributes: told()},
			{Variable: env.ScheduleGroup, Actions: []string{CreateSchedule, UpdateSchedule, DeleteSchedule},
				Within: []string{deliver.SchedulePrefix + anything, webhook.SchedulePrefix + anything}},
			{Variable: env.ScheduleRoleARN, Actions: []string{PassRole}},
			{Variable: env.PushKeyParameter, Actions: []string{GetParameter}},
			{Variable: env.HookKeyParameter, Actions: []string{GetParameter}},
		}
	case env.Notify:
		return append(reminding(), states(),
			rows(items(), GetItem, BatchGetItem, Query, PutItem, UpdateItem, ConditionCheckItem))
	}
	return nil
}

// states returns the right to read the states of accounts, which every function asks for.
func states() Grant {
	return rows([]string{departure.AllStatePKs(), departure.PepperKey().PK}, BatchGetItem)
}

func rows(within []string, actions ...string) Grant {
	return Grant{Variable: env.TableName, Actions: actions, Within: within}
}

func index(name table.Index, within []string) Grant {
	return Grant{Variable: env.TableName, Index: name, Actions: []string{Query}, Within: within}
}

// items returns the partitions of users' items and of derived rows. all returns these and those of the repositories.
func items() []string { return []string{entity.UserPK(anything)} }
func all() []string   { return append(items(), snapshots()...) }

// snapshots returns the partitions of the repositories.
func snapshots() []string { return []string{repository.UserPK(anything)} }

// erasing returns the rights of the function that erases accounts and prunes histories: all rows, objects and schedules
// of all users.
func erasing() []Grant {
	purge := []string{GetObject, DeleteObject, DeleteObjectVersion, AbortUpload}
	list := []string{ListBucket, ListBucketVersions, ListUploads}
	return []Grant{
		rows(all(), GetItem, Query, DeleteItem),
		states(),
		rows([]string{departure.AllStatePKs()}, GetItem, PutItem, UpdateItem),
		rows([]string{departure.FormKey().PK}, GetItem),
		index(table.StateView, []string{departure.StatePK(), product.HistoryPKPrefix + anything}),
		rows(snapshots(), BatchGetItem, PutItem, UpdateItem, ConditionCheckItem), // to prune
		{Variable: env.ArchiveBucket, Actions: purge, Within: slices.Concat(copies(), requests(), exports())},
		{Variable: env.ArchiveBucket, Actions: []string{PutObject}, Within: []string{account.ErasedPrefix + anything}},
		{Variable: env.ArchiveBucket, Actions: list},
		{Variable: env.ParkingBucket, Actions: purge, Within: []string{consume.ParkedPrefix + anything}},
		{Variable: env.ParkingBucket, Actions: list},
		{Variable: env.SnapshotBucket, Actions: purge, Within: indexes()},
		{Variable: env.SnapshotBucket, Actions: list},
		{Variable: env.BusName, Actions: []string{PutEvents}},
		{Variable: env.ScheduleGroup, Actions: []string{DeleteSchedule}, Within: []string{anything}},
		{Actions: []string{ListSchedules}},
	}
}

// exporting returns the rights of the function that carries out exports, beside those of the erasure.
func exporting() []Grant {
	return []Grant{
		states(),
		rows(items(), BatchGetItem, UpdateItem),
		index(table.StateView, []string{accountkeys.ExportView()}),
		{Variable: env.ArchiveBucket, Actions: []string{PutObject}, Within: exports()},
	}
}

func exports() []string { return []string{transfer.ExportsPrefix + anything} }

// requests are the objects of requests for an erasure.
func requests() []string { return []string{account.LeavingPrefix + anything} }

// indexes are the snapshots of users' indexes.
func indexes() []string { return []string{snapshot.Root + anything} }

func copies() []string { return []string{archive.AllCopiesPrefix + anything} }

func parking() Grant {
	return Grant{
		Variable: env.ParkingBucket, Actions: []string{PutObject}, Within: []string{consume.ParkedPrefix + anything},
	}
}

// walks returns the right to set off a walk.
func walks() Grant { return Grant{Variable: env.WalkQueueURL, Actions: []string{SendMessage}} }

// reminding returns the rights that the three functions for reminders share.
func reminding() []Grant {
	return []Grant{
		{Variable: env.BusName, Actions: []string{PutEvents}},
		{Variable: env.ScheduleGroup, Actions: []string{CreateSchedule, UpdateSchedule, DeleteSchedule},
			Within: []string{anything}},
		{Variable: env.ScheduleRoleARN, Actions: []string{PassRole}},
	}
}

// PartitionsOf returns the patterns of a user's partitions: those of the user by name, and those that begin with a
// prefix of the user's. A pattern U#12* would match the partition of a user 123 as well.
func PartitionsOf(user string) []string {
	return []string{
		repository.UserPK(user), repository.UserPrefix(user) + anything,
		entity.UserPK(user), entity.UserPrefix(user) + anything,
		entity.LinkedPrefix(user) + anything,
	}
}

// told returns the attributes of the rows that deliver writes.
func told() []string {
	all := append(deliver.Attributes(), webhook.Attributes()...)
	slices.Sort(all)
	return slices.Compact(all)
}
