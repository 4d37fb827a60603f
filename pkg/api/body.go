package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

const (
	jsonType       = "application/json"
	mergePatchType = "application/merge-patch+json"
	problemType    = "application/problem+json"
)

const (
	// maxBody bounds the body of one command, in bytes: the largest entity has a note of 32 KB, escaped at worst six
	// times.
	maxBody = 256 << 10
	// maxBatch bounds the body of a batch of commands, in bytes. Lambda takes requests of 6 MB.
	maxBatch = 4 << 20
	// maxDrained bounds the bytes of an overlong body that are read and discarded. Reading them lets the client read the
	// answer and continue to use the connection.
	maxDrained = 16 << 20
)

// readBody returns the decoded body of a request, nil if there is none.
func (o *operation) readBody(r *http.Request) (map[string]any, *Problem) {
	raw, p := o.readAll(r)
	if p != nil {
		return nil, p
	}
	if len(raw) == 0 {
		if o.body != nil && o.body.required {
			return nil, refuse(malformed, "A JSON body is required.")
		}
		return nil, nil
	}
	if o.body == nil {
		return nil, refuse(malformed, "%s takes no body.", o.id)
	}
	if p := o.body.checkMedia(r.Header); p != nil {
		return nil, p
	}
	return decodeObject(raw)
}

// readAll returns the bytes of the body. It reads the rest of an overlong one within bounds and discards it.
func (o *operation) readAll(r *http.Request) ([]byte, *Problem) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	limit := int64(maxBody)
	if o.body != nil && o.body.limit > 0 {
		limit = o.body.limit
	}
	// Without a writer, the reader does not close the connection.
	raw, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, limit))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // an error ends the body, and the answer is the same
		return nil, refuse(tooLarge, "The body is longer than %d bytes.", limit)
	case err != nil:
		return nil, refuse(malformed, "The body could not be read to its end.")
	}
	return raw, nil
}

// checkMedia checks the body's media type and encoding against those that the operation accepts.
func (b *body) checkMedia(h http.Header) *Problem {
	if coding := h.Values("Content-Encoding"); len(coding) > 1 ||
		len(coding) == 1 && !strings.EqualFold(coding[0], "identity") {
		return refuse(unsupportedMedia, "The body must not be compressed.")
	}
	types := b.mediaTypes()
	refused := refuse(unsupportedMedia, "The body must be %s.", strings.Join(types, " or "))
	if b.patch {
		refused = refused.with("Accept-Patch", strings.Join(types, ", "))
	}
	values := h.Values("Content-Type")
	if len(values) != 1 {
		return refused
	}
	media, params, err := mime.ParseMediaType(values[0])
	if err != nil || !slices.Contains(types, media) {
		return refused
	}
	for name, value := range params {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return refused
		}
	}
	return nil
}

func (b *body) mediaTypes() []string {
	switch {
	case b.media != "":
		return []string{b.media}
	case b.patch:
		return []string{mergePatchType, jsonType}
	}
	return []string{jsonType}
}

// readForm reads a document that is no entity by its possible fields. Null counts as absent.
func readForm(form *entity.Type, doc map[string]any) (item.Item, []entity.FieldError) {
	patch, broken := form.Parse(doc)
	it, unsettled := form.Merge(nil, patch)
	for _, errs := range [][]entity.FieldError{unsettled, form.Validate(it)} {
		for _, e := range errs {
			if !slices.ContainsFunc(broken, func(known entity.FieldError) bool { return known.Pointer == e.Pointer }) {
				broken = append(broken, e)
			}
		}
	}
	return it, broken
}

// form describes such a document.
func form(fields ...entity.Field) *entity.Type { return &entity.Type{Fields: fields} }
