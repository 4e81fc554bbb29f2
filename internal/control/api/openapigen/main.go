// Command openapigen writes the OpenAPI document of the daemon's API out of its routes
// and of what package client says of the types. It runs in internal/control/api through go
// generate; tests fail when its output is not committed, or says something else than
// the server does. It reflects where other generators have a table of fields: bodies and answers are
// read by encoding/json, for which the type is the table.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// node is an object of the document.
type node map[string]any

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: openapigen FILE")
	}
	s, err := newSchemas()
	if err != nil {
		log.Fatal(err)
	}
	text, err := render(document(s))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], text, 0o644); err != nil {
		log.Fatal(err)
	}
}

// render sorts keys, and has references to where OpenAPI keeps schemas.
func render(document node) ([]byte, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte("#/$defs/"), []byte("#/components/schemas/"))
	var sorted any
	if err := json.Unmarshal(text, &sorted); err != nil {
		return nil, err
	}
	return rawjson.Lines(sorted)
}

// schemas are those of the types that were asked for. A body may have no other fields; an
// answer of a later version may.
type schemas struct {
	bodies, answers jsonschema.Reflector
	all             node
}

func newSchemas() (*schemas, error) {
	r := jsonschema.Reflector{Anonymous: true, Mapper: nameless}
	if err := r.AddGoComments("github.com/stopgate/stopgate/internal/control/api", "../../agents/daemonapi/wire.go", jsonschema.WithFullComment()); err != nil {
		return nil, err
	}
	for name, text := range r.CommentMap {
		r.CommentMap[name] = strings.Join(strings.Fields(text), " ")
	}
	s := &schemas{bodies: r, answers: r, all: node{}}
	s.answers.AllowAdditionalProperties = true
	return s, nil
}

// nameless is the schema of a struct without a name, which is any object.
func nameless(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Struct && t.Name() == "" {
		return &jsonschema.Schema{Type: "object"}
	}
	return nil
}

// of is the schema of a value's type, or a reference to it.
func (s *schemas) of(v any, r *jsonschema.Reflector) *jsonschema.Schema {
	schema := r.Reflect(v)
	for name, definition := range schema.Definitions {
		if s.all[name] == nil {
			s.all[name] = definition
		}
	}
	schema.Definitions, schema.Version = nil, ""
	return schema
}

func document(s *schemas) node {
	paths := node{}
	for _, r := range api.Routes() {
		if paths[r.Path] == nil {
			paths[r.Path] = node{}
		}
		paths[r.Path].(node)[strings.ToLower(r.Method)] = operation(r, s)
	}
	s.of(daemonapi.Event{}, &s.answers)
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
			"200":     success(r, s),
			"default": node{"description": "The request failed.", "content": asJSON(s.of(daemonapi.Failure{}, &s.answers))},
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
		op["requestBody"] = node{"required": true, "content": asJSON(s.of(r.Body, &s.bodies))}
	}
	return op
}

// success is the answer of an operation that did what it was asked for.
func success(r api.Route, s *schemas) node {
	answer := node{"description": "Done.", "content": content(r, s)}
	headers := node{}
	for name, says := range r.Headers() {
		headers[name] = node{"description": says, "schema": node{"type": "string"}}
	}
	if len(headers) > 0 {
		answer["headers"] = headers
	}
	return answer
}

// content is what an operation answers.
func content(r api.Route, s *schemas) node {
	if r.Answer == nil {
		return node{r.Stream(): node{"schema": node{"type": "string"}}}
	}
	if _, ok := r.Answer.(json.RawMessage); ok {
		return asJSON(&jsonschema.Schema{Type: "object"})
	}
	return asJSON(s.of(r.Answer, &s.answers))
}

func asJSON(schema *jsonschema.Schema) node { return node{"application/json": node{"schema": schema}} }

// operationID is a name such as getPipelinesLog.
func operationID(r api.Route) string {
	id := strings.ToLower(r.Method)
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(r.Path, "/v1"), "/"), "/")
	for _, part := range parts {
		if part == "{id}" {
			part = "one"
		}
		part = strings.TrimSuffix(part, ".json")
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	return id
}
