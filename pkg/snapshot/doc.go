// Package snapshot keeps, for each user, what a reader has derived from all of the user's items as of a row of the
// change log. So the reader begins there, and not with a walk over the items.
//
// It promises:
//
//   - What [Shelf.Load] returns is what [Shelf.Save] was given for that user, kind and row, byte for byte, or an error.
//     It never returns the content of another user.
//   - [Shelf.Newest] finds the greatest row first, in one call.
//   - Losing any object costs no more than making it again.
//
// Names are immutable: two writers write the same name only for the same row, with content that is equally good. So
// repeating any call is safe, and the store needs no condition. It must never know what the bytes mean, read a clock,
// or be the only place of anything.
package snapshot
