package pepper_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/pepper"
)

const text = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

func parsed(t *testing.T) pepper.Pepper {
	t.Helper()
	p, err := pepper.Parse(text)
	require.NoError(t, err)
	return p
}

func TestParse_readsWhatTextWrites(t *testing.T) {
	t.Parallel()
	require.Equal(t, text, parsed(t).Text())
	made, err := pepper.New(strings.NewReader(strings.Repeat("k", 32)))
	require.NoError(t, err)
	again, err := pepper.Parse(made.Text())
	require.NoError(t, err)
	require.Equal(t, made, again)
	require.False(t, made.IsZero())
	require.True(t, pepper.Pepper{}.IsZero())
}

func TestParse_refusesOtherFormsWithoutRepeatingThem(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", text[1:], text + "0", strings.ToUpper(text), text[1:] + "g", " " + text[1:]} {
		_, err := pepper.Parse(bad)
		require.ErrorIs(t, err, pepper.ErrText)
		require.NotContains(t, err.Error(), "0f1011")
	}
}

func TestNew_needsAllItsBytes(t *testing.T) {
	t.Parallel()
	_, err := pepper.New(strings.NewReader(strings.Repeat("k", 31)))
	require.Error(t, err)
}

// mac is HMAC-SHA-256 in hexadecimal digits.
func mac(t *testing.T, message string) string {
	t.Helper()
	key, err := hex.DecodeString(text)
	require.NoError(t, err)
	h := hmac.New(sha256.New, key)
	h.Write([]byte(message))
	return hex.EncodeToString(h.Sum(nil))
}

func TestPepper_namesUsersByHMAC(t *testing.T) {
	t.Parallel()
	p := parsed(t)
	require.Equal(t, mac(t, "erasure\x00ann"), p.Erasure("ann"))
	require.Equal(t, mac(t, "log\x00ann")[:16], p.Pseudonym("ann"))
	require.Equal(t, mac(t, "chosen\x00ann")[:16], p.Chosen("ann"))
	require.Empty(t, p.Pseudonym(""))
	require.NotContains(t, p.Erasure("ann"), p.Pseudonym("ann"))
	require.NotEqual(t, p.Erasure("ann"), p.Erasure("bob"))
	other, err := pepper.New(strings.NewReader(strings.Repeat("k", 32)))
	require.NoError(t, err)
	require.NotEqual(t, p.Pseudonym("ann"), other.Pseudonym("ann"))
}

func TestPepper_isNeverPrinted(t *testing.T) {
	t.Parallel()
	p := parsed(t)
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("it", "pepper", p, "in", struct{ P pepper.Pepper }{p})
	slog.New(slog.NewTextHandler(&out, nil)).Info("it", "pepper", p, "in", struct{ P pepper.Pepper }{p})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		fmt.Fprintf(&out, verb+verb, p, struct{ P pepper.Pepper }{p})
	}
	inJSON, err := json.Marshal(p)
	require.NoError(t, err)
	printed := out.String() + string(inJSON)
	for _, part := range []string{"0f1011", "0F1011", "15 16 17", "15, 16", "0xf, 0x10"} {
		require.NotContains(t, printed, part)
	}
}

func TestOpenFile_makesAPepperOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pepper")
	made, err := pepper.OpenFile(path, strings.NewReader(strings.Repeat("k", 32)))
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	again, err := pepper.OpenFile(path, strings.NewReader(strings.Repeat("l", 32)))
	require.NoError(t, err)
	require.Equal(t, made, again)
}

func TestOpenFile_replacesNoFileThatItCannotRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pepper")
	for _, content := range []string{"", "\n", text[2:], text + text} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := pepper.OpenFile(path, strings.NewReader(strings.Repeat("k", 32)))
		require.ErrorIs(t, err, pepper.ErrText)
		require.ErrorContains(t, err, path)
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(left))
	}
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err := pepper.OpenFile(path, strings.NewReader(strings.Repeat("k", 32)))
	require.Error(t, err)
}
