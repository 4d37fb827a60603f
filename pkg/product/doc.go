// Package product holds the seven entity types of the product as data: their fields and states, their rules, their
// index keys, and when reminders of them are due.
//
// It promises that every rule is a pure function of the item before and after a write. It must never build a key by
// hand (package entity does that). It must never know a store, a network or a clock.
package product
