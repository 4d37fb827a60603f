// Package api is the HTTP surface: it decodes requests, passes them to the write and the read side, and answers as
// docs/contracts.md promises. One table of operations is the source of the routes, of the OpenAPI document and of a
// batch's commands, so that none of them can differ from the others.
//
// It promises:
//   - Every request is bounded and read strictly: no unknown, repeated or misspelt member, parameter or header passes
//     silently.
//   - The user comes from the authentication alone, never from a path, query or body.
//   - Every refusal is a problem document (RFC 9457) which names all faults at once.
//   - No message reveals internals.
//
// It must never hold a rule of the product: pkg/entity and pkg/command decide what is valid. It must never know Lambda
// or the local platform: the same handler serves in both.
package api
