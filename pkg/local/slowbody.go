package local

import (
	"io"
	"net/http"
	"time"
)

const (
	// bodyBound bounds how long a client may take to send a request's body.
	bodyBound = 10 * time.Second
	// answerBound bounds how long a client may take to read an answer, from its first byte.
	answerBound = 30 * time.Second
	// streamBound bounds how long a client may take to read each part of a continuing answer.
	streamBound = 10 * time.Second
)

// withBodyDeadline bounds the time that clients may take for bodies and answers. Timeouts of the server would also end
// long answers, such as that of /dev/stream, and count the time that the system itself takes.
func withBodyDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := http.NewResponseController(w)
		_ = connection.SetWriteDeadline(time.Time{}) // of the answer before, on the same connection
		if r.ContentLength != 0 {
			body := &timelyBody{r.Body, connection}
			if body.restart() == nil {
				r.Body = body
			}
		}
		next.ServeHTTP(&timelyAnswer{ResponseWriter: w, connection: connection}, r)
	})
}

// timelyBody lifts the deadline at the body's end: from then on the server watches the connection, and would treat the
// deadline as a disconnected client.
type timelyBody struct {
	io.ReadCloser
	connection *http.ResponseController
}

// restart gives the client the whole time for what is left of the body.
func (b *timelyBody) restart() error { return b.connection.SetReadDeadline(time.Now().Add(bodyBound)) }

// restartBody is [timelyBody.restart] of a request that the platform itself has kept waiting.
func restartBody(r *http.Request) {
	if b, ok := r.Body.(*timelyBody); ok {
		_ = b.restart() // it could be set, so it can be set again
	}
}

// Read implements [io.Reader].
func (b *timelyBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.connection.SetReadDeadline(time.Time{}) // it could be set, so it can be lifted
	}
	return n, err
}

// timelyAnswer sets the deadline when the answer begins, and for a continuing one before each part.
type timelyAnswer struct {
	http.ResponseWriter
	connection    *http.ResponseController
	begun, goesOn bool
}

// goOn declares that the answer is sent in parts for an unlimited time.
func goOn(w http.ResponseWriter) {
	if a, ok := w.(*timelyAnswer); ok {
		a.goesOn = true
	}
}

// WriteHeader implements [http.ResponseWriter].
func (a *timelyAnswer) WriteHeader(status int) {
	a.extend()
	a.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (a *timelyAnswer) Write(p []byte) (int, error) {
	a.extend()
	return a.ResponseWriter.Write(p)
}

// Unwrap lets a [http.ResponseController] find the connection.
func (a *timelyAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *timelyAnswer) extend() {
	switch {
	case a.goesOn:
		_ = a.connection.SetWriteDeadline(time.Now().Add(streamBound))
	case !a.begun:
		_ = a.connection.SetWriteDeadline(time.Now().Add(answerBound))
	}
	a.begun = true
}
