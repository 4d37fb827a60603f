// Package search is an index of the words of one user's documents, in memory.
//
// It promises:
//
//   - An answer depends on the documents alone, and not on the order in which they came, were replaced or removed.
//     The same holds for the bytes of [Index.Encode].
//   - A document that has expired, or whose parent is not there, counts nowhere: it is no match and moves no rank.
//   - [Decode] of any bytes returns an index or an error, and takes memory in proportion to their number.
//
// It must never read a clock or a store, and never know what a document stands for. What a word is, its caller says.
package search
