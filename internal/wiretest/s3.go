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

// S3 returns Amazon S3, buckets in the path: REST, lists and errors in XML.
func S3() Service {
	return describe("s3", map[string][]Rule{
		"ListObjectsV2": {bucketName}, "GetObject": {bucketName, keyName}, "DeleteObject": {bucketName, keyName},
		"PutObject":          {bucketName, keyName, bodyIsSigned, checksumFits},
		"ListObjectVersions": {bucketName, versionHasKey},
		"DeleteObjects":      {bucketName, bodyIsSigned, checksumFits, namesVersions},

		"CreateMultipartUpload": {bucketName, keyName}, "UploadPart": {bucketName, keyName, bodyIsSigned, checksumFits},
		"CompleteMultipartUpload": {bucketName, keyName, bodyIsSigned, listsPieces},
		"AbortMultipartUpload":    {bucketName, keyName},
		"ListMultipartUploads":    {bucketName, uploadHasKey},
	}, refuseObject)
}

// bucketName checks Amazon S3 User Guide, "General purpose bucket naming rules".
func bucketName(c Call) []string {
	name, _ := c.Input["Bucket"].(string)
	forbidden := strings.Contains(name, "..") || net.ParseIP(name) != nil || strings.HasPrefix(name, "xn--") ||
		strings.HasPrefix(name, "sthree-") || strings.HasSuffix(name, "-s3alias") || strings.HasSuffix(name, "--ol-s3")
	if forbidden {
		return []string{fmt.Sprintf("the bucket name %q is not allowed", name)}
	}
	return nil
}

// maxKeyBytes bounds the name of an object, which safeKey matches.
const maxKeyBytes = 1024

var safeKey = regexp.MustCompile(`^[A-Za-z0-9!_.*'()/=-]+$`)

// keyName checks Amazon S3 User Guide, "Naming Amazon S3 objects": at most 1,024 bytes of UTF-8; of them the safe
// characters only; and no segment that means a folder, which programs on the way may resolve.
func keyName(c Call) []string {
	key, _ := c.Input["Key"].(string)
	found := atMost(maxKeyBytes, len(key), "bytes", "the key has")
	if !safeKey.MatchString(key) {
		found = append(found, fmt.Sprintf("the key %q has a character that is not safe", key))
	}
	for _, segment := range strings.Split(key, "/") {
		if segment == "." || segment == ".." {
			found = append(found, fmt.Sprintf("the key %q has a segment that stands for a folder", key))
		}
	}
	return found
}

// bodyIsSigned checks Amazon S3 API Reference, "Authenticating Requests", "Transferring payload in a single chunk".
// The signed headers contain the hash of the body, or the word for an unsigned body, which is safe only with TLS.
func bodyIsSigned(c Call) []string {
	body, _ := c.Input["Body"].([]byte)
	sum := sha256.Sum256(body)
	sent := c.Header.Get("X-Amz-Content-Sha256")
	if sent != hex.EncodeToString(sum[:]) && sent != "UNSIGNED-PAYLOAD" {
		return []string{fmt.Sprintf("the header X-Amz-Content-Sha256 %q is not the hash of the body", sent)}
	}
	return nil
}

// checksumFits checks Amazon S3 User Guide, "Checking object integrity": CRC-32C, big-endian, in base64.
func checksumFits(c Call) []string {
	body, _ := c.Input["Body"].([]byte)
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	want := base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
	if sent, there := c.Input["ChecksumCRC32C"]; there && sent != want {
		return []string{fmt.Sprintf("the checksum is %q, that of the body %q", sent, want)}
	}
	return nil
}

// versionHasKey checks Amazon S3 API Reference, ListObjectVersions: a version id marker needs a key marker.
func versionHasKey(c Call) []string {
	if c.Input["VersionIdMarker"] != nil && c.Input["KeyMarker"] == nil {
		return []string{"a version id marker without a key marker"}
	}
	return nil
}

// uploadHasKey checks Amazon S3 API Reference, ListMultipartUploads: an upload id marker needs a key marker.
func uploadHasKey(c Call) []string {
	if c.Input["UploadIdMarker"] != nil && c.Input["KeyMarker"] == nil {
		return []string{"an upload id marker without a key marker"}
	}
	return nil
}

// listsPieces checks Amazon S3 API Reference, CompleteMultipartUpload: the pieces of the upload, in the order of their
// numbers, each with its entity tag. One uploaded with a checksum needs it here, too.
func listsPieces(c Call) []string {
	body, _ := c.Input["Body"].([]byte)
	var pieces struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Part    []struct {
			PartNumber           int
			ETag, ChecksumCRC32C string
		}
	}
	if err := xml.Unmarshal(body, &pieces); err != nil {
		return []string{"the body is no CompleteMultipartUpload: " + err.Error()}
	}
	var found []string
	if len(pieces.Part) == 0 {
		found = append(found, "no piece")
	}
	last := 0
	for _, piece := range pieces.Part {
		if piece.PartNumber <= last || piece.ETag == "" || piece.ChecksumCRC32C == "" {
			found = append(found, fmt.Sprintf("piece %d is out of order, or without entity tag or checksum", piece.PartNumber))
		}
		last = piece.PartNumber
	}
	return found
}

// maxDeleted bounds the objects of a DeleteObjects.
const maxDeleted = 1000

// namesVersions checks Amazon S3 API Reference, DeleteObjects: 1 to 1,000 objects, each with a key, and a checksum or
// an MD5 digest of the body. Nexus names a version of each: without one the service only puts a delete marker.
func namesVersions(c Call) []string {
	var found []string
	if c.Input["ChecksumCRC32C"] == nil && c.Header.Get("Content-Md5") == "" {
		found = append(found, "neither a checksum nor an MD5 digest of the body")
	}
	body, _ := c.Input["Body"].([]byte)
	var deletes struct {
		XMLName xml.Name `xml:"Delete"`
		Object  []struct{ Key, VersionId string }
	}
	if err := xml.Unmarshal(body, &deletes); err != nil {
		return append(found, "the body is no Delete: "+err.Error())
	}
	if len(deletes.Object) == 0 {
		found = append(found, "no object")
	}
	found = append(found, atMost(maxDeleted, len(deletes.Object), "objects", "the body has")...)
	for _, object := range deletes.Object {
		found = append(found, keyName(Call{Input: map[string]any{"Key": object.Key}})...)
		if object.VersionId == "" {
			found = append(found, fmt.Sprintf("the object %q has no version id", object.Key))
		}
	}
	return found
}

func refuseObject(w http.ResponseWriter, r Refusal) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(r.Status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName                  xml.Name `xml:"Error"`
		Code, Message, RequestID string
	}{Code: r.Code, Message: message(r), RequestID: "4442587FB7D0A2F9"})
}
