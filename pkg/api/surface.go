package api

import (
	"net/http"

	"nexus/pkg/entity"
)

// Route is one method of one path, for a gateway in front of the surface.
type Route struct {
	Method string
	// Path is a pattern whose variables are whole segments: /v1/tasks/{taskId}.
	Path string
	// Operation is the operation's id in the document.
	Operation string
	// Side serves the route: [SideCommands] or [SideQueries].
	Side Side
	// Open routes need no user.
	Open bool
}

// Routes returns every route of the surface for these entity types, in the order of the document; a HEAD follows its
// GET.
func Routes(r *entity.Registry) []Route {
	var routes []Route
	for _, o := range operations(r) {
		route := Route{Method: o.method, Path: o.path, Operation: o.id, Side: SideQueries, Open: o.open}
		if o.writes {
			route.Side = SideCommands
		}
		routes = append(routes, route)
		if o.reads() {
			route.Method = http.MethodHead
			routes = append(routes, route)
		}
	}
	return routes
}
