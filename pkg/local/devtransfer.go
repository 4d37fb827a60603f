package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"

	"nexus/pkg/account"
	"nexus/pkg/blob/dir"
	"nexus/pkg/entity"
	"nexus/pkg/transfer"
)

const (
	// zipMedia is the type of an exported account. A page of another site cannot send it without a preflight.
	zipMedia = "application/zip"
	// maxAccountBytes bounds a file that is imported.
	maxAccountBytes = 4 << 30
)

// ExportAccount writes everything of a user as a zip file. Its parts are in a temporary directory until then.
func ExportAccount(
	ctx context.Context, s *transfer.Service, user string, to io.Writer, progress func(lines int),
) (m transfer.Manifest, err error) {
	temporary, err := os.MkdirTemp("", "nexus-export-")
	if err != nil {
		return m, fmt.Errorf("directory for the parts of an export: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	parts, err := dir.New(temporary)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, parts.Close()) }()
	return s.Export(ctx, user, to, parts, "", progress)
}

// postExport answers with everything of a user as a zip file.
func (p *Platform) postExport(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		User string `json:"user"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	if err := entity.CheckUserID(body.User); err != nil {
		return refusal(http.StatusUnprocessableEntity, "user: %v", err)
	}
	goOn(w)
	out := &begunWriter{w: w}
	_, err := ExportAccount(r.Context(), p.system.Transfer, body.User, out, nil)
	if err != nil && out.begun {
		p.log.Error("an export ended early", "error", err)
		panic(http.ErrAbortHandler) // the status is sent: only a cut connection can report the error
	}
	if errors.Is(err, account.ErrErased) {
		return refusal(http.StatusConflict, "user: %v", err)
	}
	return err
}

// begunWriter sets the header of an exported account before its first byte.
type begunWriter struct {
	w     http.ResponseWriter
	begun bool
}

func (b *begunWriter) Write(text []byte) (int, error) {
	if !b.begun {
		b.begun = true
		b.w.Header().Set("Content-Type", zipMedia)
		b.w.Header().Set("Cache-Control", "no-store")
	}
	return b.w.Write(text)
}

// postImport puts the account in the body into that of a user, and answers with the report.
func (p *Platform) postImport(w http.ResponseWriter, r *http.Request) (err error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != zipMedia {
		return refusal(http.StatusUnsupportedMediaType, "the body has to be %s", zipMedia)
	}
	user := r.URL.Query().Get("user")
	if err := entity.CheckUserID(user); err != nil {
		return refusal(http.StatusUnprocessableEntity, "user: %v", err)
	}
	file, err := os.CreateTemp("", "nexus-import-")
	if err != nil {
		return fmt.Errorf("file for an account: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	size, err := io.Copy(file, io.LimitReader(r.Body, maxAccountBytes+1))
	switch {
	case err != nil:
		return refusal(http.StatusBadRequest, "the body breaks off: %v", err)
	case size > maxAccountBytes:
		return refusal(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", int64(maxAccountBytes))
	}
	report, err := p.system.Transfer.Import(r.Context(), user, file, size, nil)
	var wrong *transfer.FileError
	switch {
	case errors.As(err, &wrong):
		return refusal(http.StatusUnprocessableEntity, "%v", wrong)
	case errors.Is(err, transfer.ErrNotEmpty), errors.Is(err, transfer.ErrOtherFile),
		errors.Is(err, transfer.ErrOvertaken), errors.Is(err, account.ErrErased), errors.Is(err, account.ErrLeaving):
		return refusal(http.StatusConflict, "%v", err)
	case err != nil:
		return err
	}
	return answer(w, report)
}
