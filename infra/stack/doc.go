// Package stack is one deployment of Nexus on AWS as a CloudFormation stack.
//
// It promises that whatever the code knows is taken from the code: the table from pkg/entity, the readers of its stream
// from pkg/eventsource, the functions' variables, rights, sizes and alarms from pkg/deploy/env, access, size and alarm,
// the routes from pkg/api. It decides what only a deployment can: names, encryption, retention, protection, throttles,
// who may call whom. It must never name a sort key, a route or an alarm by itself, never give a right to everything,
// and never read anything of the account it will be deployed to.
//
// One account and region holds one stage: metrics and alarms carry no stage, and a second one in the same place is
// refused by the names that are taken.
package stack
