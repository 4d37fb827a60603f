package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"nexus/pkg/local/engine"
	"nexus/pkg/local/engine/enginetest"
)

const ownerVariable = "NEXUS_ENGINE_TEST_OWNER"

// TestMain lets the test binary play the owner of an engine in a process of its own, which a test can kill.
func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerVariable); dir != "" {
		if err := own(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// own runs an engine until the process is killed or its standard input ends.
func own(dir string) error {
	binary, err := engine.Find()
	if err != nil {
		return err
	}
	e, err := engine.Start(context.Background(), engine.Config{Binary: binary, DataDir: dir})
	if err != nil {
		return err
	}
	fmt.Println(e.Endpoint())
	_ = bufio.NewScanner(os.Stdin).Scan()
	return e.Stop(context.Background())
}

// ownerProcess starts the owner and returns its engine's endpoint.
func ownerProcess(t *testing.T, dir string) (owner *exec.Cmd, endpoint string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	owner = exec.Command(self)
	owner.Env = append(os.Environ(), ownerVariable+"="+dir)
	owner.Stderr = os.Stderr
	_, err = owner.StdinPipe()
	require.NoError(t, err)
	out, err := owner.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, owner.Start())
	t.Cleanup(func() {
		_ = owner.Process.Kill()
		_ = owner.Wait()
	})
	endpoint, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return owner, strings.TrimSpace(endpoint)
}

func TestLockData_leavesDataToALiveOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner, endpoint := ownerProcess(t, dir)
	table := createTable(t, client(endpoint), enginetest.TableName(t))

	_, err := engine.Start(t.Context(), engine.Config{Binary: binary(t), DataDir: dir})
	require.ErrorIs(t, err, engine.ErrInUse)
	require.ErrorContains(t, err, fmt.Sprintf("process %d", owner.Process.Pid))
	put(t, client(endpoint), table, row("A", "1"))
}

func TestStart_findsDataAndNoSecondEngineAfterAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner, endpoint := ownerProcess(t, dir)
	table := createTable(t, client(endpoint), enginetest.TableName(t))
	put(t, client(endpoint), table, row("A", "1"))
	require.NoError(t, owner.Process.Kill())
	_ = owner.Wait()

	e := start(t, dir)
	require.NotEmpty(t, get(t, client(e.Endpoint()), table, "A"))
	_, err := client(endpoint).ListTables(t.Context(), nil, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	require.Error(t, err, "the engine of the killed owner must not answer any more")
}

func TestStart_stopsAnEngineThatWasLeftRunning(t *testing.T) {
	t.Parallel()
	left := start(t, t.TempDir())
	lock, err := os.ReadFile(filepath.Join(left.DataDir(), "engine.lock"))
	require.NoError(t, err)

	t.Run("but not a process that only has its pid", func(t *testing.T) {
		for _, field := range []string{`"started":"`, `"command":"`} {
			dir := t.TempDir()
			engineAt := strings.Index(string(lock), `"engine":`)
			require.Positive(t, engineAt)
			other := string(lock[:engineAt]) + strings.Replace(string(lock[engineAt:]), field, field+"x", 1)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "engine.lock"), []byte(other), 0o600))
			start(t, dir)
			require.NoError(t, left.Err())
			_, err := client(left.Endpoint()).ListTables(t.Context(), nil)
			require.NoError(t, err)
		}
	})

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "engine.lock"), lock, 0o600))
	start(t, dir)
	<-left.Done()
	require.ErrorContains(t, left.Err(), "engine ended")
}

func TestStart_doesNotGuessAtAnUnknownProcess(t *testing.T) {
	t.Parallel()
	left := start(t, t.TempDir())
	host, port, err := net.SplitHostPort(strings.TrimPrefix(left.Endpoint(), "http://"))
	require.NoError(t, err)
	dir := requireNotGuessedAt(t, `"host":"`+host+`","port":`+port, port)
	require.NoError(t, left.Stop(t.Context()))
	start(t, dir)
}

// A release before this one wrote no host, and its engine listened where everybody looks.
func TestStart_findsALeftEngineOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(free.Addr().String())
	require.NoError(t, err)
	require.NoError(t, free.Close())
	left := exec.Command(binary(t), "--host", "127.0.0.1", "--port", port, "--db-path",
		filepath.Join(t.TempDir(), "x.sqlite"))
	require.NoError(t, left.Start())
	end := sync.OnceFunc(func() { _ = left.Process.Kill(); _ = left.Wait() })
	t.Cleanup(end)
	require.Eventually(t, func() bool {
		connection, err := net.Dial("tcp4", "127.0.0.1:"+port)
		if err != nil {
			return false
		}
		return connection.Close() == nil
	}, 15*time.Second, 10*time.Millisecond)
	dir := requireNotGuessedAt(t, `"port":`+port, port)
	end()
	start(t, dir)
}

// requireNotGuessedAt has an engine started on a directory whose lock file says no more of the one before than where it
// was to listen, and returns the directory.
func requireNotGuessedAt(t *testing.T, where, port string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "engine.lock"), []byte(`{"owner":{"pid":1},`+where+`}`), 0o600))
	_, err := engine.Start(t.Context(), engine.Config{Binary: binary(t), DataDir: dir})
	require.ErrorIs(t, err, engine.ErrInUse)
	require.ErrorContains(t, err, "port "+port)
	return dir
}
