package s3_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const bucket = "nexus-objects"

// service speaks the part of S3's HTTP API that the adapter uses, addressed by path, over TLS: the client frames and signs
// a body differently without.
type service struct {
	mu      sync.Mutex
	objects map[string]object

	// pageSize ends pages of a list early, as S3 may.
	pageSize int
	// refuse answers the request instead, if it returns a status.
	refuse func(r *http.Request) (status int, code string)
	// damage changes a body on its way to the reader.
	damage func(body []byte) []byte
	// emptyPages answers each list with nothing but the word that there is more.
	emptyPages bool
}

type object struct {
	body                  []byte
	contentType, checksum string
}

func newService(t *testing.T) (*service, *httptest.Server) {
	t.Helper()
	s := &service{objects: map[string]object{}, pageSize: 4}
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	return s, server
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		answerError(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		if status, code := s.refuse(r); status != 0 {
			answerError(w, status, code)
			return
		}
	}
	key, inBucket := strings.CutPrefix(r.URL.Path, "/"+bucket+"/")
	switch {
	case r.Method == http.MethodGet && strings.TrimSuffix(r.URL.Path, "/") == "/"+bucket && r.URL.Query().Get("list-type") == "2":
		s.list(w, r)
	case !inBucket || key == "":
		answerError(w, http.StatusNotFound, "NoSuchBucket")
	case len(key) > 1024:
		answerError(w, http.StatusBadRequest, "KeyTooLongError")
	case r.Method == http.MethodPut:
		s.put(w, r, key, body)
	case r.Method == http.MethodGet:
		s.get(w, r, key)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		answerError(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

func answerError(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}{Code: code, Message: "refused"})
}

func (s *service) put(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	want := base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
	length, err := strconv.Atoi(r.Header.Get("Content-Length"))
	switch {
	case err != nil || length != len(body):
		answerError(w, http.StatusLengthRequired, "MissingContentLength")
	case r.Header.Get("X-Amz-Checksum-Crc32c") != want:
		answerError(w, http.StatusBadRequest, "BadDigest")
	case len(r.TransferEncoding) > 0 || strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked"):
		answerError(w, http.StatusNotImplemented, "NotImplemented")
	default:
		s.objects[key] = object{body, r.Header.Get("Content-Type"), want}
	}
}

func (s *service) get(w http.ResponseWriter, r *http.Request, key string) {
	found, exists := s.objects[key]
	if !exists {
		answerError(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	w.Header().Set("Content-Type", found.contentType)
	if r.Header.Get("X-Amz-Checksum-Mode") == "ENABLED" {
		w.Header().Set("X-Amz-Checksum-Crc32c", found.checksum)
	}
	body := found.body
	if s.damage != nil {
		body = s.damage(slices.Clone(body))
	}
	_, _ = w.Write(body)
}

type listing struct {
	XMLName     xml.Name `xml:"ListBucketResult"`
	IsTruncated bool
	Contents    []struct{ Key string }
}

func (s *service) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("max-keys"))
	if err != nil || limit < 1 || limit > 1000 {
		answerError(w, http.StatusBadRequest, "InvalidArgument")
		return
	}
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, query.Get("prefix")) && key > query.Get("start-after") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	limit = min(limit, s.pageSize)
	answer := listing{IsTruncated: len(keys) > limit || s.emptyPages}
	for _, key := range keys[:min(limit, len(keys))] {
		if !s.emptyPages {
			answer.Contents = append(answer.Contents, struct{ Key string }{key})
		}
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}

func (s *service) stored(key string) (object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, exists := s.objects[key]
	return found, exists
}
