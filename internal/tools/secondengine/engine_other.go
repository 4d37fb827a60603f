//go:build !linux

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
)

const inside = "inside"

// unfit says that the engine runs on Linux alone: nothing else gives it a network of its own.
func unfit(func(string) (string, error)) string { return "it gets a network of its own on Linux alone" }

type engine struct{}

func startEngine(context.Context, string, io.Writer) (*engine, error) {
	return nil, errors.ErrUnsupported
}

func (*engine) transport() *http.Transport { return nil }

func (*engine) stop() error { return nil }

func keep(string, string) error { return errors.ErrUnsupported }
