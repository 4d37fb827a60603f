package api

import (
	"context"
	"errors"

	"nexus/pkg/archive"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/query"
)

// unlessGone returns the answer to an error: that the entity of the request existed and left, or the error itself. It
// makes one call if that entity was not found, and otherwise none.
func (a *API) unlessGone(ctx context.Context, c call, err error) error {
	ref := a.notFoundOf(c, err)
	if ref == (entity.Ref{}) {
		return err
	}
	left, failed := a.cfg.Archive.Left(ctx, c.user, ref)
	switch {
	case failed != nil:
		return failed
	case left == archive.NoDeparture, left == archive.Expired && errors.Is(err, archive.ErrNoCopy):
		return err
	}
	return refuseGone(ref.Type, left)
}

// notFoundOf returns the entity of the request, if the error says that it is missing; none for an entity to which the
// request only refers.
func (a *API) notFoundOf(c call, err error) entity.Ref {
	var (
		missing *command.NotFoundError
		absent  *query.NotFoundError
	)
	switch {
	case errors.As(err, &missing) && missing.Pointer == "":
		return missing.Ref
	case errors.As(err, &absent):
		return absent.Ref
	case errors.Is(err, archive.ErrNoCopy):
		if t := a.cfg.Registry.ByID(c.path["id"]); t != nil {
			return entity.Ref{Type: t.Name, ID: c.path["id"]}
		}
	}
	return entity.Ref{}
}

// refuseGone makes the problem of an entity that existed and left.
func refuseGone(typeName string, left archive.Departure) *Problem {
	format := "The %s was deleted."
	if left == archive.Expired {
		format = "The %s has expired: /v1/archive lists its copy, and POST /v1/archive/{id}/restore brings it back."
	}
	p := refuse(gone, format, noun(typeName))
	p.Reason = string(left)
	return p
}
