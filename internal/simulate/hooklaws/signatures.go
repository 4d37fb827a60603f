package hooklaws

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// unsigned is a request whose signatures are still to be judged: its secrets may be told later than it came.
type unsigned struct {
	hook *hook
	id   string
	Request
}

// checkSignatures judges all requests whose secrets are known by now, by the text of Standard Webhooks.
func (j *Judge) checkSignatures() {
	for _, u := range j.unsigned {
		known := map[int]Secrets{}
		for _, s := range j.secrets[u.hook.key] {
			known[s.Generation] = s
		}
		j.checkSigned(u, known)
	}
	j.unsigned = nil
}

// checkSigned judges one request. Where a worker may have read the endpoint before a change, both its states do.
func (j *Judge) checkSigned(u unsigned, known map[int]Secrets) {
	var first string
	for _, s := range u.hook.since(u.HookRead) {
		if s.row == nil {
			continue
		}
		wrong := j.signedFor(u, s.row, known)
		if wrong == "" {
			return
		}
		first = wrong
	}
	if first != "" {
		j.breach("signature", u.hook.key, u.id, "%s: %s", first, one(u.Header["webhook-signature"]))
	}
}

// signedFor returns what is wrong with the signatures for this state of the endpoint.
func (j *Judge) signedFor(u unsigned, row map[string]any, known map[int]Secrets) string {
	now := generation(row)
	since := u.Begun.Sub(instant(row["rotatedAt"]))
	isRotated := !instant(row["rotatedAt"]).IsZero()
	for g, s := range known {
		v1, v1a := u.isSigned(s)
		switch isFormer := g == now-1 && isRotated; {
		case g == now && !(v1 && v1a):
			return "not signed under the present secret by v1 and v1a"
		case isFormer && since < formerFor-j.tolerance.Clock && !(v1 && v1a):
			return "not signed under the former secret by v1 and v1a"
		case isFormer && since > formerFor+j.tolerance.Clock && (v1 || v1a),
			g != now && !isFormer && (v1 || v1a):
			return "signed under a secret that is no longer good"
		}
	}
	return ""
}

// isSigned reports whether a signature of each kind is good under these secrets.
func (u unsigned) isSigned(s Secrets) (v1, v1a bool) {
	content := []byte(u.id + "." + one(u.Header["webhook-timestamp"]) + "." + string(u.Body))
	for _, part := range strings.Fields(one(u.Header["webhook-signature"])) {
		kind, encoded, _ := strings.Cut(part, ",")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			continue
		}
		switch kind {
		case "v1":
			mac := hmac.New(sha256.New, key(s.Symmetric, "whsec_"))
			mac.Write(content)
			v1 = v1 || hmac.Equal(mac.Sum(nil), signature)
		case "v1a":
			public := key(s.Public, "whpk_")
			v1a = v1a || len(public) == ed25519.PublicKeySize && ed25519.Verify(public, content, signature)
		}
	}
	return v1, v1a
}

func key(told, prefix string) []byte {
	encoded, _ := strings.CutPrefix(told, prefix)
	b, _ := base64.StdEncoding.DecodeString(encoded)
	return b
}
