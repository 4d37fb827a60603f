package wiretest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"net"
	"net/http"
	"regexp"
	"strings"
)

// S3 is Amazon S3 (API version 2006-03-01), buckets in the path: REST, lists and errors in XML.
func S3() Service {
	const reference = "Amazon S3 API Reference, "
	bucket, key := text(3, 63, `[a-z0-9][a-z0-9.-]*[a-z0-9]`), text(1, 1024, "")
	named := func(operation, method string, members map[string]Shape, header map[string]string) Operation {
		members["Bucket"], members["Key"] = bucket, key
		return Operation{
			Name: operation, Source: reference + operation, Method: method, Path: "/{Bucket}/{Key+}",
			Query: map[string]string{"x-id=" + operation: ""}, Header: header,
			Input: Shape{Required: []string{"Bucket", "Key"}, Members: members},
			Rules: []Rule{bucketName, keyName},
		}
	}
	put := named(
		"PutObject", http.MethodPut,
		map[string]Shape{
			"Body": {Kind: Blob}, "ContentType": text(1, 0, `[a-z]+/[a-z0-9.+-]+`), "ContentLength": integer(0, 5<<30),
			"ChecksumCRC32C": text(8, 8, `[A-Za-z0-9+/]{6}==`), "ChecksumAlgorithm": oneOf("CRC32C"),
			"IfNoneMatch": oneOf("*"), "IfMatch": text(1, 0, ""),
		},
		map[string]string{
			"Content-Type": "ContentType", "Content-Length": "ContentLength", "X-Amz-Checksum-Crc32c": "ChecksumCRC32C",
			"X-Amz-Sdk-Checksum-Algorithm": "ChecksumAlgorithm", "If-None-Match": "IfNoneMatch", "If-Match": "IfMatch",
		})
	put.HasBody = true
	put.Rules = append(put.Rules, bodyIsSigned, checksumFits)
	get := named("GetObject", http.MethodGet, map[string]Shape{"ChecksumMode": oneOf("ENABLED")},
		map[string]string{"X-Amz-Checksum-Mode": "ChecksumMode"})
	remove := named("DeleteObject", http.MethodDelete, map[string]Shape{}, nil)
	list := Operation{
		Name: "ListObjectsV2", Source: reference + "ListObjectsV2", Method: http.MethodGet, Path: "/{Bucket}",
		Query: map[string]string{
			"list-type=2": "", "prefix": "Prefix", "start-after": "StartAfter", "max-keys": "MaxKeys",
			"continuation-token": "ContinuationToken",
		},
		Input: Shape{Required: []string{"Bucket"}, Members: map[string]Shape{
			"Bucket": bucket, "Prefix": text(0, 1024, ""), "StartAfter": text(1, 1024, ""), "MaxKeys": integer(1, 1000),
			"ContinuationToken": text(1, 0, ""),
		}},
		Rules: []Rule{bucketName},
	}
	service := Service{Name: "s3", Operations: []Operation{list, put, get, remove}, refuse: refuseObject}
	for i := range service.Operations {
		service.Operations[i].Refusals = objectRefusals(service.Operations[i].Name)
	}
	return service
}

// bucketName is Amazon S3 User Guide, "General purpose bucket naming rules".
func bucketName(c Call) []string {
	name, _ := c.Input["Bucket"].(string)
	forbidden := strings.Contains(name, "..") || net.ParseIP(name) != nil || strings.HasPrefix(name, "xn--") ||
		strings.HasPrefix(name, "sthree-") || strings.HasSuffix(name, "-s3alias") || strings.HasSuffix(name, "--ol-s3")
	if forbidden {
		return []string{fmt.Sprintf("the bucket name %q is not allowed", name)}
	}
	return nil
}

// keyName is Amazon S3 User Guide, "Naming Amazon S3 objects": at most 1,024 bytes of UTF-8; of them the safe
// characters only; and no segment that stands for a folder, which programs on the way may resolve.
func keyName(c Call) []string {
	key, _ := c.Input["Key"].(string)
	var found []string
	if len(key) > 1024 {
		found = append(found, fmt.Sprintf("the key has %d bytes, at most 1024 are allowed", len(key)))
	}
	if !regexp.MustCompile(`^[A-Za-z0-9!_.*'()/=-]+$`).MatchString(key) {
		found = append(found, fmt.Sprintf("the key %q has a character that is not safe", key))
	}
	for _, segment := range strings.Split(key, "/") {
		if segment == "." || segment == ".." {
			found = append(found, fmt.Sprintf("the key %q has a segment that stands for a folder", key))
		}
	}
	return found
}

// bodyIsSigned is Amazon S3 API Reference, "Authenticating Requests", "Transferring payload in a single chunk": the
// hash of the body is among the signed headers, or the word that it is not signed, which only TLS makes good.
func bodyIsSigned(c Call) []string {
	body, _ := c.Input["Body"].([]byte)
	sum := sha256.Sum256(body)
	sent := c.Header.Get("X-Amz-Content-Sha256")
	if sent != hex.EncodeToString(sum[:]) && sent != "UNSIGNED-PAYLOAD" {
		return []string{fmt.Sprintf("the header X-Amz-Content-Sha256 %q is not the hash of the body", sent)}
	}
	return nil
}

// checksumFits is Amazon S3 User Guide, "Checking object integrity": CRC-32C, big-endian, in base64.
func checksumFits(c Call) []string {
	body, _ := c.Input["Body"].([]byte)
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	want := base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
	if sent, there := c.Input["ChecksumCRC32C"]; there && sent != want {
		return []string{fmt.Sprintf("the checksum is %q, that of the body %q", sent, want)}
	}
	return nil
}

// objectRefusals are those of Amazon S3 API Reference, "Error responses", "List of error codes", that a request of
// Nexus can meet.
func objectRefusals(operation string) []Refusal {
	refusals := []Refusal{
		{Status: 403, Code: "AccessDenied"},
		{Status: 403, Code: "InvalidAccessKeyId"},
		{Status: 403, Code: "SignatureDoesNotMatch"},
		{Status: 400, Code: "ExpiredToken"},
		{Status: 404, Code: "NoSuchBucket"},
		{Status: 301, Code: "PermanentRedirect"},
		{Status: 400, Code: "InvalidArgument"},
		{Status: 400, Code: "InvalidRequest"},
		{Status: 400, Code: "InvalidURI"},
		{Status: 400, Code: "RequestTimeout", Repeated: true},
		{Status: 500, Code: "InternalError", Repeated: true},
		{Status: 503, Code: "SlowDown", Repeated: true},
		{Status: 503, Code: "ServiceUnavailable", Repeated: true},
	}
	switch operation {
	case "GetObject":
		refusals = append(refusals, Refusal{Status: 404, Code: "NoSuchKey"}, Refusal{Status: 403, Code: "InvalidObjectState"})
	case "PutObject":
		refusals = append(
			refusals,
			Refusal{Status: 400, Code: "BadDigest"}, Refusal{Status: 400, Code: "EntityTooLarge"},
			Refusal{Status: 400, Code: "KeyTooLongError"},
			Refusal{Status: 400, Code: "IncompleteBody"}, Refusal{Status: 412, Code: "PreconditionFailed"},
			Refusal{Status: 409, Code: "ConditionalRequestConflict"}, Refusal{Status: 409, Code: "OperationAborted"})
	}
	return refusals
}

func refuseObject(w http.ResponseWriter, r Refusal) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(r.Status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName                  xml.Name `xml:"Error"`
		Code, Message, RequestID string
	}{Code: r.Code, Message: message(r), RequestID: "4442587FB7D0A2F9"})
}
