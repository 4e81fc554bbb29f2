package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// Every path that a notification links to is that of a page, or of an answer.
func TestIssue18NotificationsLinkToPages(t *testing.T) {
	pages := http.NewServeMux()
	for _, p := range Pages() {
		pages.Handle("GET "+p.Path, http.NotFoundHandler())
	}
	pages.Handle("GET /act/{token}", http.NotFoundHandler()) // as the handler has it
	for file, want := range map[string]string{
		"permit.go": "/inbox/", "push.go": "/inbox/", "../daemon/notify.go": "/pipelines/", "../../gate/stop/tell.go": "/stops/",
	} {
		paths := pathsIn(t, file)
		if !strings.Contains(strings.Join(paths, " "), want) {
			t.Errorf("%s: no %s among %q: is this test out of date?", file, want, paths)
		}
		for _, path := range paths {
			r, err := http.NewRequest(http.MethodGet, path+decisionID, nil)
			check(t, err)
			if _, pattern := pages.Handler(r); pattern == "" {
				t.Errorf("%s links to %s, which is not a page", file, path)
			}
		}
	}
}

// pathsIn are the strings in a file of the source that something is added to for a path.
func pathsIn(t *testing.T, file string) (paths []string) {
	t.Helper()
	source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	check(t, err)
	ast.Inspect(source, func(node ast.Node) bool {
		if text, is := node.(*ast.BasicLit); is && text.Kind == token.STRING {
			if path, err := strconv.Unquote(text.Value); err == nil && len(path) > 1 && strings.HasPrefix(path, "/") && strings.HasSuffix(path, "/") {
				paths = append(paths, path)
			}
		}
		return true
	})
	return paths
}
