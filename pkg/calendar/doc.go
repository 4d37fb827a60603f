// Package calendar is a user's calendar as other programs see it: written whole as iCalendar, read from a secret
// address, and taken over from a file. Package ical knows the format, package command makes the writes, this one brings
// them together.
//
// It promises that the same items always give the same text, byte for byte, so that a program that asks again is told
// in a few bytes that nothing has changed; that nothing is left out of a text without the text saying so; that a file
// imported twice changes nothing the second time, nor does what was exported here; and that every component of a file
// is accounted for in the answer.
//
// It must never keep the secret of an address, only its digest, and never write an item but through package command.
package calendar
