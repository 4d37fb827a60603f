// Package transfer takes an account out whole, into one zip file, and puts such a file into an empty account.
//
// An export is made of parts. A walk reads the account, one part after the other, and keeps its place in a cursor;
// joining reads the parts and writes the file. So a crash costs one part, and the memory of both is bounded by one part
// and the ids of the items. docs/privacy.md shows the form of the file.
//
// It promises:
//   - An item is whole, and was read once between the instants from and to of the manifest. A revision is whole.
//   - Each id is in the file once: in items, archive or gone.
//   - Nothing of a key is taken from a file. All keys and the names of objects are built for the importing user, from
//     types and ids that were checked.
//   - Everything in a file is checked before the first write: what the API would refuse is refused.
//   - An import may crash anywhere. The same file into the same account goes on, and writes each row once: a row of the
//     account counts what was written, in the same transactions.
//
// # Why repeating is safe
//
// [Jobs.Delete] puts the receipt of its request in the transaction that ends the job. The request of a job puts it
// behind: a repetition that finds none is refused while the job is open. An import counts what was written. What
// workers repeat is in the comment of [Worker].
//
// It must never write beside a row that is there, and never anything of another user.
package transfer
