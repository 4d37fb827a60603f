package s3_test

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"nexus/internal/wiretest"
)

const bucket = "nexus-objects"

// service speaks the part of S3's HTTP API that the adapter uses, addressed by path, over TLS: the client frames and
// signs a body differently without.
type service struct {
	mu      sync.Mutex
	objects map[string]object
	kept    []version // of a bucket with versions: all of them, oldest first
	refuses string    // a key that a DeleteObjects does not delete
	uploads map[string]*pieces

	// pageSize ends pages of a list early, as S3 may.
	pageSize int
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
	server := httptest.NewTLSServer(wiretest.NewGuard(t, s, wiretest.S3()).Also(complete))
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
	key, inBucket := strings.CutPrefix(r.URL.Path, "/"+bucket+"/")
	switch {
	case r.Method == http.MethodGet && strings.TrimSuffix(r.URL.Path, "/") == "/"+bucket &&
		r.URL.Query().Get("list-type") == "2":
		s.list(w, r)
	case r.Method == http.MethodGet && !inBucket && r.URL.Query().Has("versions"):
		s.listVersions(w, r)
	case r.Method == http.MethodPost && !inBucket && r.URL.Query().Has("delete"):
		s.deleteVersions(w, body)
	case r.Method == http.MethodGet && !inBucket && r.URL.Query().Has("uploads"):
		s.listUploads(w, r)
	case !inBucket || key == "":
		answerError(w, http.StatusNotFound, "NoSuchBucket")
	case r.URL.Query().Has("uploads") || r.URL.Query().Has("uploadId"):
		s.upload(w, r, key, body)
	case r.Method == http.MethodPut:
		s.put(w, r, key, body)
	case r.Method == http.MethodGet:
		s.get(w, r, key)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		s.keep(key, true)
		w.WriteHeader(http.StatusNoContent)
	default:
		answerError(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

// complete returns what a request lacks that the service does not demand and Nexus needs: a checksum of its own with
// every body, compared where it arrives and where it is read, and objects with their content type.
func complete(c wiretest.Call) []string {
	var wanted []string
	switch c.Operation {
	case "PutObject":
		wanted = []string{"ChecksumCRC32C", "ContentType", "ContentLength"}
	case "CreateMultipartUpload":
		wanted = []string{"ChecksumAlgorithm", "ContentType"}
	case "UploadPart":
		wanted = []string{"ChecksumCRC32C", "ContentLength"}
	case "ListMultipartUploads":
		wanted = []string{"MaxUploads"}
	case "GetObject":
		wanted = []string{"ChecksumMode"}
	case "ListObjectsV2", "ListObjectVersions":
		wanted = []string{"MaxKeys"}
	}
	var found []string
	for _, name := range wanted {
		if c.Input[name] == nil {
			found = append(found, c.Operation+" without the "+name+" that Nexus needs")
		}
	}
	return found
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
	if len(r.TransferEncoding) > 0 || strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked") {
		answerError(w, http.StatusNotImplemented, "NotImplemented")
		return
	}
	s.objects[key] = object{body, r.Header.Get("Content-Type"), r.Header.Get("X-Amz-Checksum-Crc32c")}
	s.keep(key, false)
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
