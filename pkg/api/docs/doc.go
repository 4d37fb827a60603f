// Package docs renders the OpenAPI document as one page for readers.
//
// It promises that the page shows only the document's content, works without scripts, and loads nothing from another
// host: its style and its small script are part of the binary. It must stay a separate package, which only programs
// that serve the page import: the Lambda functions leave it out.
package docs
