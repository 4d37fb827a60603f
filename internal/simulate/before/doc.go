// Package before adapts this release's ports for the release before it, whose packages are in the build below
// nexus/predecessor (see package beside).
//
// It promises that nothing is lost between the types of the two releases. It must never be imported without the build
// tag "predecessor": without it the package is empty.
package before
