package query

import (
	"fmt"

	"nexus/pkg/entity"
)

// Bounds of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 100
)

// refuse returns the error about one parameter.
func refuse(param, format string, args ...any) error {
	return &entity.ValidationError{
		Fields: []entity.FieldError{{Pointer: "/" + param, Detail: fmt.Sprintf(format, args...)}},
	}
}

// limitOf checks a limit; 0 means the default.
func limitOf(limit int) (int, error) {
	switch {
	case limit == 0:
		return DefaultLimit, nil
	case limit < 1 || limit > MaxLimit:
		return 0, refuse("limit", "must be 1 to %d", MaxLimit)
	}
	return limit, nil
}
