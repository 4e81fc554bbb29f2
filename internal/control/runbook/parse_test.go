package runbook

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write the golden files anew")

func noFile(string) ([]byte, error) { return nil, fs.ErrNotExist }

// sound is the set of testdata/sound.
func sound(t testing.TB) Set {
	t.Helper()
	set, err := Load("testdata/sound")
	if err != nil {
		t.Fatal(err.(Faults).Detail())
	}
	if len(set.Runbooks) != 2 {
		t.Fatalf("%d runbooks", len(set.Runbooks))
	}
	return set
}

// The same runbook in both formats is the same.
func TestFormatsAgree(t *testing.T) {
	set := sound(t)
	if diff := cmp.Diff(set.Runbooks[0], set.Runbooks[1], cmpopts.IgnoreFields(Runbook{}, "Path", "Name", "Warnings")); diff != "" {
		t.Errorf("-hcl +toml\n%s", diff)
	}
	for _, book := range set.Runbooks {
		if len(book.Warnings) > 0 {
			t.Errorf("%s", book.Warnings.Detail())
		}
	}
}

func TestFaults(t *testing.T) {
	for _, name := range []string{"every.toml", "every.hcl"} {
		_, err := LoadFile("testdata/faults", name)
		var faults Faults
		if !errors.As(err, &faults) {
			t.Fatalf("%s: %v", name, err)
		}
		got := strings.ReplaceAll(faults.Detail(), `testdata\faults\`, "testdata/faults/")
		golden := filepath.Join("testdata/faults", name+".golden")
		if *update {
			check(t, os.WriteFile(golden, []byte(got), 0o644))
		}
		want, err := os.ReadFile(golden)
		check(t, err)
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Parse reads one runbook. The path tells the format; readFile reads what prompt_file
// names, a path below the runbooks directory with slashes in it. The runbook is complete
// only where there is no fault.
func Parse(name string, text []byte, readFile func(name string) ([]byte, error)) (Runbook, Faults) {
	d := newDecoder(origin{dir: filepath.Dir(name), read: readFile}, filepath.Base(name), name, text)
	d.read()
	return d.book(), d.allFaults()
}
