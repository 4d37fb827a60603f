// Package console serves the page at /console of the local platform, where one sees what a write sets in motion.
//
// The page is a client of the paths below /dev/ and has no part on the server but its files. One of its modules,
// api.js, knows these paths, and asks first what the system can do: so the page can look at another system, too.
//
// It promises that the page loads nothing from elsewhere, makes no markup of texts, and runs no script but its own; the
// policy that it is sent with holds a browser to that. It must never be imported by a function.
package console
