package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/document"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Each file under testdata/faults is wrong, and what is said about it lies
// beside it.
func TestFaults(t *testing.T) {
	preference := []string{"claude", "codex"}
	parsers := map[string]func(string, []byte) error{
		"project": func(name string, data []byte) error {
			_, err := ParseProject(name, data)
			return err
		},
		"global": func(name string, data []byte) error {
			_, err := ParseGlobal(name, data)
			return err
		},
		"ci": func(name string, data []byte) error {
			_, err := ParseCI(name, data)
			return err
		},
		"check": func(name string, data []byte) error {
			return parseCheck(name, data, newCheck("lint"))
		},
		"review-md": func(name string, data []byte) error {
			return parseReviewMarkdown(name, data, newReview("style", preference))
		},
		"review-yml": func(name string, data []byte) error {
			return parseReviewYAML(name, data, newReview("style", preference))
		},
	}
	for kind, parse := range parsers {
		files, err := filepath.Glob("testdata/faults/" + kind + "/*.[my]*")
		if err != nil || len(files) == 0 {
			t.Fatalf("no files of kind %s: %v", kind, err)
		}
		for _, file := range files {
			base := strings.TrimSuffix(file, filepath.Ext(file))
			t.Run(kind+"/"+filepath.Base(base), func(t *testing.T) {
				data, err := os.ReadFile(file)
				check(t, err)
				golden(t, base+".golden", report(t, parse("config.yml", data)))
			})
		}
	}
}

// report is the compact form and the full form of an error.
func report(t *testing.T, err error) string {
	t.Helper()
	faults, ok := err.(*document.Faults)
	if !ok {
		t.Fatalf("wanted faults, got %v", err)
	}
	return faults.Error() + "\n\n" + faults.Detail()
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		check(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	check(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
