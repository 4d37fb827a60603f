package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
)

// masterLength is that of a master secret, in bytes.
const masterLength = 32

// formerLife is how long the former secret signs beside the present one.
const formerLife = 24 * time.Hour

// Master is the secret of a deployment from which the secrets of all endpoints follow. It shows itself nowhere but by
// [Master.Text].
type Master struct{ secret [masterLength]byte }

// ErrMaster says that a text is no master secret.
var ErrMaster = errors.New("the master secret is not 32 bytes in base64url without padding")

// NewMaster draws a master secret.
func NewMaster(random io.Reader) (m Master, err error) {
	if _, err := io.ReadFull(random, m.secret[:]); err != nil {
		return Master{}, fmt.Errorf("draw a master secret: %w", err)
	}
	return m, nil
}

// ParseMaster is the inverse of [Master.Text].
func ParseMaster(text string) (m Master, err error) {
	secret, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(secret) != masterLength {
		return Master{}, ErrMaster
	}
	copy(m.secret[:], secret)
	return m, nil
}

// Text returns the secret.
func (m Master) Text() string { return base64.RawURLEncoding.EncodeToString(m.secret[:]) }

// IsZero reports whether it is no secret.
func (m Master) IsZero() bool { return m == Master{} }

// Format keeps the secret out of texts.
func (Master) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "master secret") }

// LogValue keeps the secret out of logs.
func (Master) LogValue() slog.Value { return slog.StringValue("master secret") }

// derive returns the bytes of a secret. The user is part of it: a client chooses the ids of its endpoints.
func (m Master) derive(user, hook string, generation int64, kind string) []byte {
	mac := hmac.New(sha256.New, m.secret[:])
	_, _ = io.WriteString(mac, strings.Join([]string{user, hook, strconv.FormatInt(generation, 10), kind}, "#"))
	return mac.Sum(nil)
}

func (m Master) symmetric(user, hook string, generation int64) []byte {
	return m.derive(user, hook, generation, "v1")
}

func (m Master) private(user, hook string, generation int64) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(m.derive(user, hook, generation, "v1a"))
}

// Keys are those by which a receiver checks messages, in the notation of Standard Webhooks.
type Keys struct {
	Secret    string // for v1: whsec_ and base64
	PublicKey string // for v1a: whpk_ and base64
}

// KeysOf returns the keys of an endpoint's present generation.
func (m Master) KeysOf(user string, hook item.Item) Keys {
	id, generation := hook.Str(webhookType.IDAttr), hook.Int(outbox.AttrGeneration)
	public, _ := m.private(user, id, generation).Public().(ed25519.PublicKey)
	return Keys{
		Secret:    "whsec_" + base64.StdEncoding.EncodeToString(m.symmetric(user, id, generation)),
		PublicKey: "whpk_" + base64.StdEncoding.EncodeToString(public),
	}
}

// Attributes returns those of the rows that a [Worker] writes, and of an endpoint those that disabling it writes.
func Attributes() []string {
	return []string{
		attrType, attrBody, attrState, attrReason, attrAttempts, attrLog, attrNextAt, attrAgain, attrLeaseOwner,
		attrLeaseUntil, attrFailures, attrOpened, attrOpenUntil, attrFailingSince, attrCountedAt, attrOfActive, attrCalledAt,
		entity.AttrTTL, entity.AttrStatus, entity.AttrVersion, entity.AttrUpdatedAt, entity.AttrEditVersion,
		entity.AttrSystemVersion, entity.AttrRestoredAt,
	}
}

// sign returns the signatures of a message at an attempt: under the present secret and, for a day, the former one.
func (m Master) sign(user string, hook item.Item, id string, at time.Time, body string) string {
	content := []byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "." + body)
	name, generation := hook.Str(webhookType.IDAttr), hook.Int(outbox.AttrGeneration)
	generations := []int64{generation}
	if rotated, ok := hook.Time(outbox.AttrRotatedAt); ok && generation > 1 && at.Sub(rotated) < formerLife {
		generations = append(generations, generation-1)
	}
	var all []string
	for _, n := range generations {
		mac := hmac.New(sha256.New, m.symmetric(user, name, n))
		_, _ = mac.Write(content)
		all = append(all,
			"v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)),
			"v1a,"+base64.StdEncoding.EncodeToString(ed25519.Sign(m.private(user, name, n), content)))
	}
	return strings.Join(all, " ")
}
