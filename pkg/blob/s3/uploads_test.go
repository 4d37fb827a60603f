package s3_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
)

// pieces holds what an upload has got so far.
type pieces struct {
	key, contentType string
	bodies           map[int][]byte
}

// minPiece is the least size of a piece that is not the last (S3 User Guide, "Amazon S3 multipart upload limits").
const minPiece = 5 << 20

func answerXML(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(v)
}

// upload answers the calls of one multipart upload.
func (s *service) upload(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	query := r.URL.Query()
	if query.Has("uploads") {
		if s.uploads == nil {
			s.uploads = map[string]*pieces{}
		}
		id := fmt.Sprintf("u%06d", len(s.kept)*1000+len(s.uploads))
		s.uploads[id] = &pieces{key, r.Header.Get("Content-Type"), map[int][]byte{}}
		answerXML(w, struct {
			XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
			UploadId string
		}{UploadId: id})
		return
	}
	of := s.uploads[query.Get("uploadId")]
	switch {
	case of == nil || of.key != key:
		answerError(w, http.StatusNotFound, "NoSuchUpload")
	case r.Method == http.MethodPut:
		n, _ := strconv.Atoi(query.Get("partNumber"))
		of.bodies[n] = body
		w.Header().Set("ETag", fmt.Sprintf(`"%d-%d"`, n, len(body)))
	case r.Method == http.MethodDelete:
		delete(s.uploads, query.Get("uploadId"))
		w.WriteHeader(http.StatusNoContent)
	default:
		s.completeUpload(w, query.Get("uploadId"), body)
	}
}

func (s *service) completeUpload(w http.ResponseWriter, id string, body []byte) {
	var in struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if err := xml.Unmarshal(body, &in); err != nil {
		answerError(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	of, whole := s.uploads[id], []byte{}
	for i, part := range in.Part {
		piece, there := of.bodies[part.PartNumber]
		switch {
		case !there || part.ETag != fmt.Sprintf(`"%d-%d"`, part.PartNumber, len(piece)):
			answerError(w, http.StatusBadRequest, "InvalidPart")
			return
		case len(piece) < minPiece && i+1 < len(in.Part):
			answerError(w, http.StatusBadRequest, "EntityTooSmall")
			return
		}
		whole = append(whole, piece...)
	}
	delete(s.uploads, id)
	s.objects[of.key] = object{whole, of.contentType, ""}
	s.keep(of.key, false)
	answerXML(w, struct {
		XMLName xml.Name `xml:"CompleteMultipartUploadResult"`
		Key     string
	}{Key: of.key})
}

// listUploads answers a page in the order of the uploads' ids.
func (s *service) listUploads(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	type listed struct{ Key, UploadId string }
	var answer struct {
		XMLName            xml.Name `xml:"ListMultipartUploadsResult"`
		IsTruncated        bool
		NextKeyMarker      string   `xml:",omitempty"`
		NextUploadIdMarker string   `xml:",omitempty"`
		Upload             []listed `xml:"Upload"`
	}
	answer.IsTruncated = s.emptyPages
	for _, id := range slices.Sorted(maps.Keys(s.uploads)) {
		key := s.uploads[id].key
		if !strings.HasPrefix(key, query.Get("prefix")) || id <= query.Get("upload-id-marker") {
			continue
		}
		if len(answer.Upload) == s.pageSize {
			answer.IsTruncated = true
			break
		}
		answer.Upload = append(answer.Upload, listed{key, id})
		answer.NextKeyMarker, answer.NextUploadIdMarker = key, id
	}
	answerXML(w, answer)
}

func TestWrite_abortsAnUploadThatFails(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, "dev/")
	reason := errors.New("the reason")
	err := s.Write(t.Context(), "a/1.zip", func(to io.Writer) error {
		_, err := to.Write(make([]byte, 20<<20))
		require.NoError(t, err)
		require.Len(t, fake.uploads, 1)
		return reason
	})
	require.ErrorIs(t, err, reason)
	require.Empty(t, fake.uploads)
	require.Empty(t, fake.kept)
}

func TestWrite_saysWhatTheServiceRefused(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, "")
	err := s.Write(t.Context(), "a/1.zip", func(to io.Writer) error {
		if _, err := to.Write(make([]byte, 9<<20)); err != nil {
			return err
		}
		clear(fake.uploads)
		_, err := to.Write(make([]byte, 9<<20))
		return fmt.Errorf("hidden: %v", err) //nolint:errorlint // as a library may do
	})
	require.ErrorIs(t, err, blob.ErrUnavailable)
	require.ErrorContains(t, err, "NoSuchUpload")
}

func TestPurge_endsUploadsThatACrashLeft(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, "dev/")
	for _, name := range []string{"a/1.zip", "a/2.zip", "a/3.zip", "a/4.zip", "a/5.zip", "ab/1.zip"} {
		require.NoError(t, s.BeginUpload(t.Context(), name))
	}
	removed, err := s.Purge(t.Context(), "a/")
	require.NoError(t, err)
	require.Equal(t, 5, removed)
	require.Len(t, fake.uploads, 1)
	for _, left := range fake.uploads {
		require.Equal(t, "dev/ab/1.zip", left.key)
	}
}
