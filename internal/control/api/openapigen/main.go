// Command openapigen writes the OpenAPI document of the daemon's API out of its routes
// and of what package client says of the types. It runs in internal/control/api through go
// generate; tests fail when its output is not committed, or says something else than
// the server does.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"reflect"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/client"
	"github.com/stopgate/stopgate/internal/control/api"
)

// node is an object of the document.
type node map[string]any

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: openapigen FILE")
	}
	comments, err := readComments("../../agents/client/wire.go")
	if err != nil {
		log.Fatal(err)
	}
	text, err := render(document(&schemas{comments: comments, all: node{}}))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], text, 0o644); err != nil {
		log.Fatal(err)
	}
}

func render(document node) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(document)
	return buf.Bytes(), err
}

func document(s *schemas) node {
	paths := node{}
	for _, r := range api.Routes() {
		if paths[r.Path] == nil {
			paths[r.Path] = node{}
		}
		paths[r.Path].(node)[strings.ToLower(r.Method)] = operation(r, s)
	}
	s.of(reflect.TypeFor[client.Event](), false)
	return node{
		"openapi": "3.1.0",
		"info": node{
			"title":       "stopgated",
			"version":     "1",
			"description": "The control plane's API, over the unix socket daemon.sock in stopgate's state directory: curl --unix-socket daemon.sock http://stopgate/v1/status. Bodies have at most 1 MiB. Every answer has the header Stopgate-Version.",
		},
		"paths":      paths,
		"components": node{"schemas": s.all},
	}
}

func operation(r api.Route, s *schemas) node {
	op := node{
		"operationId": operationID(r),
		"summary":     r.Summary,
		"responses": node{
			"200":     node{"description": "Done.", "content": content(r, s)},
			"default": node{"description": "It could not be done.", "content": asJSON(s.of(reflect.TypeFor[client.Failure](), false))},
		},
	}
	var parameters []node
	if strings.Contains(r.Path, "{id}") {
		parameters = append(parameters, node{"name": "id", "in": "path", "required": true, "schema": node{"type": "string", "pattern": "^[0-9a-f-]{1,64}$"}})
	}
	for _, q := range r.Query {
		parameters = append(parameters, node{"name": q.Name, "in": "query", "description": q.Summary, "schema": node{"type": "string"}})
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	if r.Body != nil {
		op["requestBody"] = node{"required": true, "content": asJSON(s.of(reflect.TypeOf(r.Body), true))}
	}
	return op
}

// content is what an operation answers.
func content(r api.Route, s *schemas) node {
	if r.Answer == nil {
		return node{r.Stream(): node{"schema": node{"type": "string"}}}
	}
	if _, ok := r.Answer.(json.RawMessage); ok {
		return asJSON(node{"type": "object"})
	}
	return asJSON(s.of(reflect.TypeOf(r.Answer), false))
}

func asJSON(schema node) node { return node{"application/json": node{"schema": schema}} }

// operationID is a name such as getPipelinesLog.
func operationID(r api.Route) string {
	id := strings.ToLower(r.Method)
	parts := strings.Split(strings.TrimPrefix(r.Path, "/v1/"), "/")
	for _, part := range parts {
		if part == "{id}" {
			part = "one"
		}
		part = strings.TrimSuffix(part, ".json")
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	return id
}
