package webhook_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"nexus/pkg/item"
	"nexus/pkg/webhook"
)

// sentToReaders returns messages as they were sent, before and within a day after a rotation, and the keys of each.
func sentToReaders(f *fixture) (got []received, keys []webhook.Keys) {
	hook := f.hook(hook1, "content", "full")
	first := f.master.KeysOf(user, hook)
	f.apply(f.task("task_a", 1), f.task("task_b", 2))
	f.work()
	for range f.got {
		keys = append(keys, first)
	}
	before := f.read(hook1)
	after := before.Clone()
	after["generation"] = item.Int(2)
	after.SetTime("rotatedAt", f.now)
	f.put(after)
	f.now = f.now.Add(23 * time.Hour)
	f.apply(f.task("task_a", 3))
	f.work()
	last := f.got[len(f.got)-1]
	return append(f.got, last), append(keys, first, f.master.KeysOf(user, after))
}

func TestMaster_signsAsTheGoLibraryReads(t *testing.T) {
	t.Parallel()
	f := setup(t)
	got, keys := sentToReaders(f)
	f.Len(got, 4)
	for i, one := range got {
		reader, err := standardwebhooks.NewWebhook(keys[i].Secret)
		f.NoError(err)
		header := http.Header{}
		header.Set("webhook-id", one.id)
		header.Set("webhook-timestamp", one.stamp)
		header.Set("webhook-signature", one.signature)
		f.NoError(reader.VerifyIgnoringTimestamp([]byte(one.body), header), i)
		f.Error(reader.VerifyIgnoringTimestamp([]byte(one.body+" "), header))
	}
	f.now = f.now.Add(2 * time.Hour)
	f.apply(f.task("task_a", 4))
	f.work()
	last := f.got[len(f.got)-1]
	reader, err := standardwebhooks.NewWebhook(keys[0].Secret)
	f.NoError(err)
	header := http.Header{}
	header.Set("webhook-id", last.id)
	header.Set("webhook-timestamp", last.stamp)
	header.Set("webhook-signature", last.signature)
	f.Error(reader.VerifyIgnoringTimestamp([]byte(last.body), header), "the former secret signs for a day")
}

func TestMaster_signsAsTheReferenceReads(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat(filepath.Join("standard", "node_modules", "standardwebhooks")); err != nil {
		t.Skip("standardwebhooks is not installed: make webhookreaders")
	}
	f := setup(t)
	got, keys := sentToReaders(f)
	var messages []map[string]string
	for i, one := range got {
		messages = append(messages, map[string]string{
			"id": one.id, "stamp": one.stamp, "signature": one.signature, "body": one.body, "secret": keys[i].Secret,
			"publicKey": keys[i].PublicKey,
		})
	}
	input, err := json.Marshal(messages)
	f.NoError(err)
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("standard", "verify.cjs"))
	cmd.Stdin = bytes.NewReader(input)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	f.NoError(err, failed.String())
	f.JSONEq("4", string(out))
}
