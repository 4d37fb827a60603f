// Package calendar exchanges a user's calendar with other programs. It writes the whole calendar as iCalendar, serves
// it under a secret address, and imports files. Package ical defines the format, package command makes the writes;
// this package combines them.
//
// It promises:
//   - The same items always give the same text, byte for byte, so a program that asks again can learn in a few bytes
//     that nothing has changed.
//   - A text that leaves something out says so.
//   - A file imported twice changes nothing the second time, nor does a file exported here.
//   - The answer accounts for every component of a file.
//
// It must never store the secret of an address, only its digest, and never write an item except through package
// command.
package calendar
