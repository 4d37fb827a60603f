package pushservice

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

const (
	saltLength   = 16
	headerLength = saltLength + 4 + 1 // salt, record size, length of the key
	keyLength    = 65                 // an uncompressed point
)

// decrypt decrypts a message to a subscription, as a browser does: one record of aes128gcm (RFC 8188 §2, RFC 8291 §3).
func (s *Service) decrypt(id string, body []byte) ([]byte, error) {
	if len(body) < headerLength+keyLength || body[headerLength-1] != keyLength {
		return nil, errors.New("the message has no header with a key")
	}
	salt, point := body[:saltLength], body[headerLength:headerLength+keyLength]
	sender, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return nil, fmt.Errorf("the sender's key: %w", err)
	}
	private, auth := s.keys(id)
	shared, err := private.ECDH(sender)
	if err != nil {
		return nil, fmt.Errorf("the sender's key: %w", err)
	}
	info := "WebPush: info\x00" + string(private.PublicKey().Bytes()) + string(point)
	secret, err := hkdf.Key(sha256.New, shared, auth, info, sha256.Size)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	open, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	padded, err := open.Open(nil, nonce, body[headerLength+keyLength:], nil)
	if err != nil {
		return nil, fmt.Errorf("the message is to another subscription: %w", err)
	}
	text := bytes.TrimRight(padded, "\x00")
	if len(text) == 0 || text[len(text)-1] != 2 {
		return nil, errors.New("the message has no last record")
	}
	return text[:len(text)-1], nil
}
