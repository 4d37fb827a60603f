// Package lint holds the rules of the tree that no general linter knows, as tests: who may import whom, where the SDK's
// types may appear, how long a file may be, and that keys are spelled in one place.
//
// It also measures the tree. The importers of pkg/entity have a fixed bound. Every other measure has a ceiling in
// testdata/ceilings.txt that only goes down:
//
//	go test ./internal/lint -run TestExportedNames -v   exported names of each package
//	go test ./internal/lint -run TestFanIn -v           packages that import pkg/entity or one below it
//	go test ./internal/lint -run TestPrograms -v        programs below pkg and functions/internal
//	go test ./internal/lint -run TestDirections -v      imports that run the wrong way
//	go test ./internal/lint -run TestProse -v           long lines, banned phrases, "// Name is what"
//	go test ./internal/lint -run TestWalk -v            returns of a walk through an engine of pkg/projection
//	go test ./internal/lint -run TestNames -v           tests whose names do not begin with their subject
//	go test ./internal/lint -run TestVocabulary -v      names that have a better word (testdata/vocabulary.txt)
//	go test ./internal/lint -run TestFirstWords -v      functions that begin with a vague word
//	go test ./internal/lint -write-ceilings             lowers every ceiling to today's figure
//
// With -v a measure lists everything that it counts. When it fails, it lists what the branch main does not have.
//
// The package promises to look at every package of the tree, including one that no rule names yet. It must never need a
// change for a new file. A new package needs one row in the tables of docs/architecture.md, "Who may import whom".
package lint
