package api_test

import (
	"net/http"
	"testing"

	"nexus/pkg/api"
)

func TestAnswerCalendar_letsTheCacheOfAnEdgeKeepASecretAddressAlone(t *testing.T) {
	t.Parallel()
	for behind, want := range map[bool]string{
		false: "private, no-cache", true: "max-age=0, s-maxage=300, stale-if-error=0",
	} {
		b := setup(t, func(c *api.Config) { c.Edge = behind })
		b.want(200, importing(lunch))
		address := get(b.address("ann")).by("-")
		read := b.want(200, address)
		b.Equal(want, read.Header().Get("Cache-Control"))
		again := b.want(304, address.with("If-None-Match", read.Header().Get("ETag")))
		b.Equal(want, again.Header().Get("Cache-Control"), "else a cache that asks again would keep it no longer")
		head := address
		head.method = http.MethodHead
		b.Equal(want, b.want(200, head).Header().Get("Cache-Control"))
		b.Equal(want, b.want(200, get(address.path+"?part=1").by("-")).Header().Get("Cache-Control"))

		b.Equal("private, no-cache", b.want(200, get("/v1/calendar.ics")).Header().Get("Cache-Control"))
		b.Equal("no-store", b.want(404, get("/feed/x.ics").by("-")).Header().Get("Cache-Control"))
		b.Equal("no-store", b.want(422, get(address.path+"?part=7").by("-")).Header().Get("Cache-Control"))
		b.want(204, request{method: http.MethodDelete, path: "/v1/me/feed"})
		b.Equal("no-store", b.want(404, address).Header().Get("Cache-Control"))
	}
}

func TestAnswer_saysAfterWhatTimeASecretAddressFollows(t *testing.T) {
	t.Parallel()
	const header = "Nexus-Effective-After"
	for behind, want := range map[bool]string{false: "", true: "330"} {
		b := setup(t, func(c *api.Config) { c.Edge = behind })
		begin := request{method: http.MethodPut, path: "/v1/me/feed"}
		change := request{method: http.MethodPatch, path: "/v1/me/feed", body: `{"privateAs":"FULL"}`}.
			with("Content-Type", "application/merge-patch+json")
		revoke := request{method: http.MethodDelete, path: "/v1/me/feed"}
		for _, r := range []request{begin, change, revoke, revoke} {
			answered := b.do(r)
			b.Less(answered.Code, 300, answered.Body)
			b.Equal(want, answered.Header().Get(header), r.method)
		}
		b.Empty(b.want(404, get("/v1/me/feed")).Header().Get(header))
		b.Empty(b.want(201, post("/v1/notes", `{"title":"a"}`)).Header().Get(header))
		b.Empty(b.want(404, change).Header().Get(header), "nothing was changed")
	}
}
