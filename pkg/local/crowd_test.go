package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// pipes is a listener whose connections are handed to it, so that their time can be a test's.
type pipes struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

func newPipes() *pipes { return &pipes{connections: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.connections:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.connections <- server
	return client
}

func TestTimelyAnswer_endsIfItsClientDoesNotRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		goesOn bool
		bound  time.Duration
	}{"an answer": {false, answerBound}, "one that goes on": {true, streamBound}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan time.Duration, 1)
				at, server := newPipes(),
					&http.Server{Handler: withBodyDeadline(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
						time.Sleep(time.Hour) // what the system itself takes does not count
						if c.goesOn {
							goOn(w)
						}
						began := time.Now()
						for part := bytes.Repeat([]byte("x"), 64<<10); ; {
							if _, err := w.Write(part); err != nil {
								ended <- time.Since(began)
								return
							}
						}
					}))}
				go func() { _ = server.Serve(at) }()
				client := at.dial()
				_, err := client.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))
				require.NoError(t, err)
				require.Equal(t, c.bound, <-ended)
				require.NoError(t, client.Close())
				require.NoError(t, server.Close())
			})
		})
	}
}

func TestTimelyAnswer_isExtendedWhileItGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := func(w http.ResponseWriter, _ *http.Request) {
			goOn(w)
			for range 100 {
				time.Sleep(time.Minute)
				_, err := fmt.Fprintln(w, "part")
				if err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
			}
		}
		at, server := newPipes(), &http.Server{Handler: withBodyDeadline(http.HandlerFunc(answer))}
		go func() { _ = server.Serve(at) }()
		client := &http.Client{Transport: &http.Transport{
			DialContext:       func(context.Context, string, string) (net.Conn, error) { return at.dial(), nil },
			DisableKeepAlives: true,
		}}
		response, err := client.Get("http://localhost/")
		require.NoError(t, err)
		var all bytes.Buffer
		_, err = all.ReadFrom(response.Body)
		require.NoError(t, err)
		require.Equal(t, 100, bytes.Count(all.Bytes(), []byte("part\n")))
		require.NoError(t, server.Close())
	})
}

func TestFewLarge_takesFewLargeBodiesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var within, most atomic.Int64
		leave := make(chan struct{})
		handler := fewLarge(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			most.Store(max(most.Load(), within.Add(1)))
			<-leave
			within.Add(-1)
		}))
		send := func(length int64) <-chan int {
			status := make(chan int, 1)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
			r.ContentLength = length
			go func() {
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				status <- w.Code
			}()
			synctest.Wait()
			return status
		}
		first := []<-chan int{send(smallBody + 1), send(4 << 20), send(-1), send(64 << 20)}
		require.EqualValues(t, maxLarge, within.Load())
		small := send(smallBody)
		require.EqualValues(t, maxLarge+1, within.Load(), "a small one does not wait")
		began, refused := time.Now(), send(4<<20)
		require.Equal(t, http.StatusServiceUnavailable, <-refused)
		require.Equal(t, largeWait, time.Since(began))
		waiting := send(4 << 20)
		require.EqualValues(t, maxLarge+1, within.Load())
		close(leave)
		for _, status := range append(first, small, waiting) {
			require.Equal(t, http.StatusOK, <-status)
		}
		require.EqualValues(t, maxLarge+1, most.Load())
	})
}

func TestFewLarge_countsNoTimeOfTheWaitAgainstTheClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const held, sending = largeWait - time.Second, bodyBound - time.Second
		read := make(chan error, 1)
		at, server := newPipes(), &http.Server{Handler: withBodyDeadline(fewLarge(http.HandlerFunc(
			func(_ http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/hold" {
					time.Sleep(held)
					return
				}
				_, err := io.Copy(io.Discard, r.Body)
				read <- err
			})))}
		go func() { _ = server.Serve(at) }()
		request := func(path string) net.Conn {
			client := at.dial()
			_, err := fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", path, smallBody+1)
			require.NoError(t, err)
			go func() { _, _ = io.Copy(io.Discard, client) }() // until it is closed
			synctest.Wait()
			return client
		}
		var clients []net.Conn
		for range maxLarge {
			clients = append(clients, request("/hold"))
		}
		waiting := request("/read")
		time.Sleep(held + sending)
		_, errSent := waiting.Write(bytes.Repeat([]byte("x"), smallBody+1))
		for _, client := range append(clients, waiting) {
			require.NoError(t, client.Close())
		}
		require.NoError(t, server.Close())
		require.NoError(t, errSent, "the client has the whole time for its body once there is room")
		require.NoError(t, <-read)
	})
}

func TestIdlers_boundTheConnectionsThatWait(t *testing.T) {
	t.Parallel()
	var idle idlers
	closed := func(c net.Conn) bool {
		_ = c.SetReadDeadline(time.Unix(1, 0))
		_, err := c.Read(make([]byte, 1))
		return err != nil && !isTimeout(err)
	}
	open := make([]net.Conn, maxIdle+1)
	for i := range open {
		server, client := net.Pipe()
		t.Cleanup(func() { _ = client.Close() })
		open[i] = server
		idle.changed(server, http.StateNew)
		idle.changed(server, http.StateIdle)
	}
	require.True(t, closed(open[0]), "the one that has waited longest is one too many")
	require.False(t, closed(open[1]))
	require.False(t, closed(open[maxIdle]))
	idle.changed(open[0], http.StateClosed)

	idle.changed(open[1], http.StateActive) // its next request
	idle.changed(open[1], http.StateIdle)
	server, client := net.Pipe()
	t.Cleanup(func() { _ = client.Close() })
	idle.changed(server, http.StateIdle)
	require.True(t, closed(open[2]), "this one now")
	require.False(t, closed(open[1]))
	require.False(t, closed(server))
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

func TestSubscribe_boundsTheListenersOfTheStream(t *testing.T) {
	t.Parallel()
	p, err := Start(t.Context(), Options{Store: Memory, Addr: "127.0.0.1:0"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(t.Context())) })
	client := &http.Client{Transport: &http.Transport{}}
	listen := func() *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL()+"/dev/stream", nil)
		require.NoError(t, err)
		response, err := client.Do(r)
		require.NoError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	var all []*http.Response
	for range maxListeners {
		all = append(all, listen())
		require.Equal(t, http.StatusOK, all[len(all)-1].StatusCode)
	}
	refused := listen()
	require.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	require.NoError(t, all[0].Body.Close())
	require.Eventually(t, func() bool { return listen().StatusCode == http.StatusOK }, 10*time.Second, 10*time.Millisecond)
}

func TestDevRoutes_areNoPagesAndTakeNoForm(t *testing.T) {
	t.Parallel()
	p, err := Start(t.Context(), Options{Store: Memory, Addr: "127.0.0.1:0"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(t.Context())) })
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, path := range p.devPaths() {
		for method := range path.methods {
			if path.pattern == "/dev/stream" {
				continue
			}
			r, err := http.NewRequestWithContext(t.Context(), method, p.URL()+path.pattern, bytes.NewReader([]byte("{}")))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "text/plain") // as a form of another site can send it
			response, err := client.Do(r)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"), path.pattern)
			require.Contains(t, response.Header.Get("Content-Security-Policy"), "default-src 'none'", path.pattern)
			if method == http.MethodPost {
				require.Equal(t, http.StatusUnsupportedMediaType, response.StatusCode, path.pattern)
			}
		}
	}
}
