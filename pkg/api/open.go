package api

import (
	"context"
	"net/http"
)

const documentID = "getDocument"

// documentOperation returns the OpenAPI document, which describes the other operations.
func documentOperation() *operation {
	return &operation{
		id: documentID, method: http.MethodGet, path: "/openapi.json", tag: "service", open: true,
		summary: "Read this document", detail: "OpenAPI 3.1.",
		answers: []documented{
			{status: http.StatusOK, doc: "The document.", schema: object{{"type", "object"}, {"additionalProperties", true}}},
		},
	}
}

// healthOperation confirms that the process answers; it does not call the store.
func healthOperation() *operation {
	return &operation{
		id: "getHealth", method: http.MethodGet, path: "/healthz", tag: "service", open: true, everywhere: true,
		summary: "Ask whether the service answers", detail: "It says nothing about the store.",
		answers: []documented{{status: http.StatusOK, doc: "It does.", schema: object{
			{"type", "object"}, {"properties", object{{"status", object{{"const", "ok"}}}}}, {"required", []string{"status"}},
		}}},
		run: func(context.Context, *Config, call) (answer, error) {
			return answer{status: http.StatusOK, body: []byte(`{"status":"ok"}`)}, nil
		},
	}
}
