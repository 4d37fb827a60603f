// Package stack is one deployment of Nexus on AWS as a CloudFormation stack.
//
// It promises that it takes all facts of the code from the code: the table from pkg/entity, the readers of its stream
// from pkg/eventsource, the functions' variables, rights, sizes and alarms from pkg/deploy/env, access, size and
// alarm, the routes from pkg/api. It decides only what a deployment decides: names, encryption, retention, protection,
// throttles, who may call whom.
//
// It must never define a sort key, a route or an alarm by itself, never give a right to everything, and never read
// anything of the account that it will be deployed to.
//
// One account and region holds one stage: metrics and alarms carry no stage. A second stage in the same place fails,
// because its names are taken.
package stack
