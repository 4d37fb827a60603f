// Package lint holds the rules of the tree that no general linter knows, as tests: who may import whom, where the SDK's
// types may appear, how long a file may be, and that keys are spelt in one place.
//
// It promises to look at every package of the module, also at one that no rule names yet. It must never need a change
// for a new file; a new package needs one line in the table of imports.
package lint
