package local

import (
	"io"
	"net/http"
	"time"
)

// bodyBound is how long a client may take to send a request's body.
const bodyBound = 10 * time.Second

// timely bounds the time that requests' bodies may take. A read timeout of the server would end long answers, such as that
// of /dev/stream, as well.
func timely(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			connection := http.NewResponseController(w)
			if err := connection.SetReadDeadline(time.Now().Add(bodyBound)); err == nil {
				r.Body = &timelyBody{r.Body, connection}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// timelyBody lifts the deadline at the body's end: from then on the server watches the connection, and would take the
// deadline for the client having gone.
type timelyBody struct {
	io.ReadCloser
	connection *http.ResponseController
}

// Read implements [io.Reader].
func (b *timelyBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.connection.SetReadDeadline(time.Time{}) // it could be set, so it can be lifted
	}
	return n, err
}
