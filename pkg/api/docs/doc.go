// Package docs renders the OpenAPI document as one page for readers.
//
// It promises that the page shows what the document says and nothing else, works without scripts, and loads nothing
// from another host: its style and its small script are part of the binary. It must stay a package of its own, which
// only those import who serve the page: the Lambda functions leave it out.
package docs
