// Package token is the text that a device keeps to say up to where it has read its user's change log.
//
// It promises:
//
//   - A text that this package did not make is refused ([ErrToken]): a client's mistake must not cost it its copy. Four
//     bytes of a digest distinguish such a text from a token.
//   - A token says whose it is, in which form, of which types, and which row of the log was read last, by number and by
//     the row's random bits.
//   - It tells its reader nothing: a client must not look into it.
//
// It must never read a store or a clock. Package query says which tokens are good.
package token
