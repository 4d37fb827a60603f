// Package api is the HTTP surface: it decodes what clients send, hands it to the write and the read side, and answers
// as docs/contracts.md promises. One table of operations is the source of the routes, of the OpenAPI document and of
// the commands that a batch may carry, so that none of them can differ from the others.
//
// It promises that everything a client can send is bounded and read strictly (no unknown, repeated or misspelt member,
// parameter or header passes silently); that the user comes from the authentication alone, never from a path, query or
// body; that every refusal is a problem document (RFC 9457) which names everything wrong at once; and that no message
// tells what happens inside.
//
// It must never hold a rule of the product: what is valid is decided in pkg/entity and pkg/command. It knows neither
// Lambda nor the local platform: the same handler serves in both.
package api
