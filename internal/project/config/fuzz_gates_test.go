package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/document"
)

func addFiles(f *testing.F, pattern string) {
	f.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seeds in %s: %v", pattern, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		check(f, err)
		f.Add(data)
	}
}

// What we accept an editor with the schema accepts, whatever the kind of file;
// and what we refuse has a place.
func FuzzSchema(f *testing.F) {
	addFiles(f, "testdata/faults/*/*.[my]*")
	for _, documents := range agreed {
		for _, text := range append(documents.valid, documents.invalid...) {
			f.Add([]byte(text))
		}
	}
	schemas := map[string]interface{ Validate(any) error }{}
	for _, kind := range Kinds() {
		schemas[kind] = compile(f, kind)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		instance := asJSON(t, data)
		for kind, schema := range schemas {
			err := parseKind(kind, data)
			if err != nil {
				checkFaults(t, err.(*document.Faults), string(data))
				continue
			}
			if invalid := schema.Validate(instance); invalid != nil {
				t.Errorf("%s: we accept what the schema does not: %v\n%s", kind, invalid, data)
			}
		}
	})
}

// Whatever a Markdown file holds, it is read the same way twice, and what is
// accepted keeps every promise that Review makes.
func FuzzReviewMarkdown(f *testing.F) {
	addFiles(f, "testdata/faults/review-md/*.md")
	f.Add([]byte("---\nnum_reviews: 2\ncli_preference: [codex]\nmodel: a/b\n---\nLook.\n---\nMore.\n"))
	f.Add([]byte("\ufeff---\r\nbuiltin: security\r\n---\r\n"))
	f.Add([]byte("Look.\n"))
	preference := []string{"claude", "codex"}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, second := newReview("style", preference), newReview("style", preference)
		err := parseReviewMarkdown("config.yml", data, first)
		again := parseReviewMarkdown("config.yml", data, second)
		if diff := cmp.Diff(first, second); diff != "" || (err == nil) != (again == nil) {
			t.Fatalf("not the same twice: %v, %v\n%s", err, again, diff)
		}
		if err != nil {
			checkFaults(t, err.(*document.Faults), string(data))
			return
		}
		if strings.TrimSpace(first.Prompt) == "" || len(first.CLIPreference) == 0 || first.NumReviews < 1 ||
			first.Timeout < 0 || strings.HasPrefix(first.Model, "-") || first.Name != "style" {
			t.Errorf("accepted %+v", first)
		}
	})
}

func FuzzCheck(f *testing.F) {
	addFiles(f, "testdata/faults/check/*.yml")
	f.Add([]byte("command: make lint\ntimeout: 1.5\nworking_directory: ./a/\nfix_instructions: a.md\nenv: [A]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		check := newCheck("lint")
		if err := parseCheck("config.yml", data, check); err != nil {
			checkFaults(t, err.(*document.Faults), string(data))
			return
		}
		dir := check.WorkingDirectory
		if strings.TrimSpace(check.Command) == "" || check.Timeout <= 0 || check.FailFast && check.Parallel ||
			dir != "" && !filepath.IsLocal(dir) || strings.ContainsRune(check.Command+dir, 0) {
			t.Errorf("accepted %+v", check)
		}
	})
}
