package api

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocumentIsGenerated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "openapi.json")
	if out, err := exec.Command("go", "run", "./openapigen", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(path)
	check(t, err)
	if diff := cmp.Diff(string(want), string(document)); diff != "" {
		t.Errorf("run go generate ./internal/control/api: %s", diff)
	}
}

type openAPI struct {
	Paths map[string]map[string]struct {
		OperationID string `json:"operationId"`
		Parameters  []struct{ Name, In string }
		RequestBody any
		Responses   map[string]any
	}
	Components struct {
		Schemas map[string]struct {
			Properties map[string]any
		}
	}
}

func readDocument(t *testing.T) (d openAPI) {
	t.Helper()
	check(t, json.Unmarshal(document, &d))
	return d
}

// Each operation of the document is known to the server, and each other method of its
// path is not.
func TestDocumentAndServerAgree(t *testing.T) {
	handler := New(&fakePlane{}, "v1")
	ids := map[string]bool{}
	n := 0
	for path, operations := range readDocument(t).Paths {
		allowed := slices.Sorted(maps.Keys(operations))
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			// A parameter that there is nowhere tells a known operation without doing it.
			r := httptest.NewRequest(method, strings.ReplaceAll(path, "{id}", "aa")+"?nowhere=1", nil)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			want := http.StatusMethodNotAllowed
			if slices.Contains(allowed, strings.ToLower(method)) {
				want = http.StatusBadRequest
				n++
			}
			if w.Code != want {
				t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
			}
		}
		for method, operation := range operations {
			if ids[operation.OperationID] || (method == "post") != (operation.RequestBody != nil) || operation.Responses["200"] == nil {
				t.Errorf("%s %s: %+v", method, path, operation)
			}
			ids[operation.OperationID] = true
		}
	}
	if n != len(Routes()) {
		t.Errorf("the document has %d operations, the server %d", n, len(Routes()))
	}
}

// Each type that goes over the wire is in the document, with all its fields and no others.
func TestDocumentHasTheWiresTypes(t *testing.T) {
	types := map[string]*ast.StructType{}
	for _, name := range []string{"wire.go", "fleet.go", "job.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), "../../agents/daemonapi/"+name, nil, 0)
		check(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				types[spec.Name.Name] = spec.Type.(*ast.StructType)
			}
			return true
		})
	}
	schemas := readDocument(t).Components.Schemas
	named := maps.Clone(types)
	delete(named, "Away") // it is only a part of others
	if diff := cmp.Diff(slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(schemas))); diff != "" {
		t.Error(diff)
	}
	for name, structure := range named {
		if diff := cmp.Diff(fieldsOf(types, structure), slices.Sorted(maps.Keys(schemas[name].Properties))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// fieldsOf are the names in JSON.
func fieldsOf(types map[string]*ast.StructType, structure *ast.StructType) (names []string) {
	for _, f := range structure.Fields.List {
		if f.Names == nil {
			names = append(names, fieldsOf(types, types[f.Type.(*ast.Ident).Name])...)
			continue
		}
		name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestDocumentIsServed(t *testing.T) {
	w := httptest.NewRecorder()
	New(&fakePlane{}, "v1").ServeHTTP(w, httptest.NewRequest("GET", "/v1/openapi.json", nil))
	if w.Code != http.StatusOK || w.Body.String() != string(document) {
		t.Errorf("%d %.200s", w.Code, w.Body)
	}
}
