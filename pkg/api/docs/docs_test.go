package docs_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/api/docs"
	"nexus/pkg/product"
)

func serve(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := docs.New(api.Document(product.Registry()))
	require.NoError(t, err)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	return rec
}

func TestNew_showsEveryOperationSchemaAndProblem(t *testing.T) {
	t.Parallel()
	html := serve(t, "/docs").Body.String()
	var doc struct {
		Paths      map[string]map[string]struct{ OperationID string }
		Components struct {
			Schemas map[string]struct {
				Properties struct {
					Type struct{ Enum []string }
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(api.Document(product.Registry()), &doc))
	for path, methods := range doc.Paths {
		require.Contains(t, html, "<code>"+path+"</code>")
		for _, o := range methods {
			require.Contains(t, html, `<article id="`+o.OperationID+`" `)
		}
	}
	for name := range doc.Components.Schemas {
		require.Contains(t, html, `id="schema-`+name+`"`)
	}
	require.Contains(t, html, `id="precondition-failed"`)
	require.Contains(t, html, `required`)
}

func TestNew_leadsEveryLinkSomewhere(t *testing.T) {
	t.Parallel()
	html := serve(t, "/docs").Body.String()
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(html, -1) {
		require.Contains(t, html, `id="`+m[1]+`"`)
	}
}

func TestNew_loadsOnlyItsOwnAssets(t *testing.T) {
	t.Parallel()
	html := serve(t, "/docs").Body.String()
	require.NotRegexp(t, `(src|href)="(https?:)?//`, html)
	for path, kind := range map[string]string{
		"/docs": "text/html", "/docs/docs.css": "text/css", "/docs/docs.js": "text/javascript",
		"/docs/try.js": "text/javascript",
	} {
		res := serve(t, path)
		require.Equal(t, 200, res.Code)
		require.Contains(t, res.Header().Get("Content-Type"), kind)
		require.Contains(t, res.Header().Get("Content-Security-Policy"), "default-src 'none'")
		require.NotContains(t, res.Body.String(), "http://")
	}
	require.Equal(t, 404, serve(t, "/docs/page.html").Code)
}

func TestNew_refusesTextThatIsNoDocument(t *testing.T) {
	t.Parallel()
	_, err := docs.New([]byte(`{"openapi":`))
	require.Error(t, err)
	_, err = docs.New([]byte(`{}`))
	require.NoError(t, err)
}
