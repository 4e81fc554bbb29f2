package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// full is a plane whose lists have a next page, so that all headers are seen.
type full struct{ fakePlane }

func (p *full) Owners(ctx context.Context, q *Query) (Page[daemonapi.Owner], error) {
	page, err := p.fakePlane.Owners(ctx, q)
	page.Next = Place{when, "aa"}
	return page, err
}

// Each answer to a GET, and each failure, is as the document says, with the headers that it names.
func TestAnswersAreAsTheDocumentSays(t *testing.T) {
	p := &full{}
	p.events = func(context.Context, uint64) iter.Seq2[daemonapi.Event, error] {
		return func(func(daemonapi.Event, error) bool) {}
	}
	queries := map[string]string{"/v1/commands": "?project=/p", "/v1/agents/{id}/answer": "?ref=01CALL"}
	handler := New(p, "v1")
	for _, route := range Routes() {
		if route.Method != "GET" {
			continue
		}
		id := "aa"
		if strings.HasPrefix(route.Path, "/v1/runs/") {
			id = "bb"
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", strings.ReplaceAll(route.Path, "{id}", id)+queries[route.Path], nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %.300s", route.Path, w.Code, w.Body)
			continue
		}
		kind := w.Header().Get("Content-Type")
		if answers := contentOf(t, route.Path, kind); kind == "application/json" {
			validate(t, route.Path, answers, w.Body.Bytes())
		}
		said := maps.Clone(route.Headers())
		for name := range w.Header() {
			common := slices.Contains([]string{"Cache-Control", "Content-Length", "Content-Type", "Stopgate-Version"}, name)
			if _, is := said[name]; !is && !common {
				t.Errorf("%s: the document does not know the header %s", route.Path, name)
			}
		}
	}

	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/v1/pipelines?limit=0", nil))
	validate(t, "a failure", "#/components/schemas/Failure", w.Body.Bytes())
}

// contentOf is the place of the schema of an answer in the document, which must have that type.
func contentOf(t *testing.T, path, kind string) string {
	t.Helper()
	var d struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]any
				Headers map[string]any
			}
		}
	}
	check(t, json.Unmarshal(document, &d))
	answer := d.Paths[path]["get"].Responses["200"]
	if answer.Content[kind] == nil || len(answer.Content) != 1 {
		t.Errorf("%s answers with %s, which the document does not say: %v", path, kind, answer.Content)
	}
	i := slices.IndexFunc(Routes(), func(r Route) bool { return r.Method == "GET" && r.Path == path })
	if diff := cmp.Diff(slices.Sorted(maps.Keys(Routes()[i].Headers())), slices.Sorted(maps.Keys(answer.Headers))); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
	escaped := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	return fmt.Sprintf("#/paths/%s/get/responses/200/content/%s/schema", escaped.Replace(path), escaped.Replace(kind))
}

func validate(t *testing.T, what, at string, text []byte) {
	t.Helper()
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	check(t, err)
	c := jsonschema.NewCompiler()
	check(t, c.AddResource("openapi.json", whole))
	schema, err := c.Compile("openapi.json" + at)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	check(t, err)
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v\n%.300s", what, err, text)
	}
}
