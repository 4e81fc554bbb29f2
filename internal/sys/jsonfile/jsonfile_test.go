package jsonfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

// TestMain keeps the locks out of the state directory of whoever runs the tests.
func TestMain(m *testing.M) {
	environtest.Clean()
	dir, err := os.MkdirTemp("", "jsonfile")
	if err != nil {
		panic(err)
	}
	os.Setenv("STOPGATE_STATE_DIR", filepath.Join(dir, "state"))
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// testFile is a file that is not there yet, with this content if any.
func testFile(t testing.TB, content ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dir", "x.json")
	for _, text := range content {
		put(t, path, text)
	}
	return path
}

var (
	put = checktest.Write
	get = checktest.Read
)

func mustParse(t testing.TB, text string) *Document {
	t.Helper()
	d, err := Parse("f", []byte(text))
	check(t, err)
	return d
}

func same(t testing.TB, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
