package queue

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNamesOfFiles(t *testing.T) {
	for session, want := range map[string]string{
		"warden-main-4": "queue-warden-main-4.json",
		"a b":           "queue-a b.json",
		"a/b":           "queue-a%2Fb.json",
		"a\\b":          "queue-a%5Cb.json",
		"..":            "queue-%2E%2E.json",
		"../../etc":     "queue-%2E%2E%2F%2E%2E%2Fetc.json",
		"a.stale":       "queue-a%2Estale.json",
		"a\nb\x00":      "queue-a%0Ab%00.json",
		"100%":          "queue-100%25.json",
		"a%2Fb":         "queue-a%252Fb.json",
		"party🎉":        "queue-party🎉.json",
		"a*?<>|\":b":    "queue-a%2A%3F%3C%3E%7C%22%3Ab.json",
		"~":             "queue-%7E.json",
	} {
		if got := filepath.Base(Store{"dir"}.Path(session)); got != want {
			t.Errorf("%q: %s, want %s", session, got, want)
		}
		if got, isQueue := sessionOf(want); !isQueue || got != session {
			t.Errorf("%s: %q, %t", want, got, isQueue)
		}
	}
}

// A file's name has at most 255 bytes, and suffixes, numbers and the names of locks
// are to fit too.
func TestLongNamesAreCutAndStayApart(t *testing.T) {
	seen := map[string]bool{}
	for _, session := range []string{
		strings.Repeat("x", 300), strings.Repeat("x", 301), strings.Repeat("x", 300) + "y", strings.Repeat("/", 61),
		strings.Repeat("🎉", 75), strings.Repeat("🎉", 76), strings.Repeat("\xff", 300), strings.Repeat("x", 4096),
	} {
		file := filepath.Base(Store{"dir"}.Path(session))
		if len(file)+len(".corrupt.9") > 255 || seen[file] || utf8.ValidString(session) && !utf8.ValidString(file) {
			t.Errorf("%q", file)
		}
		seen[file] = true
		if _, isQueue := sessionOf(file); !isQueue {
			t.Errorf("not listed: %q", file)
		}
	}
	if whole := strings.Repeat("x", maxName); fileName(whole) != whole {
		t.Error("cut too early")
	}
}

func TestForeignFilesAreNoQueues(t *testing.T) {
	for _, file := range []string{
		"queue-a.stale.json", "queue-a.done.json", "queue-a.corrupt.json", "queue-a.stale.3.json", "queue-a.lock", "queue-a.driver.lock",
		"queue-a.json.bak", "queue-a.json~", "queue-a", ".stopgate-1234", "other.json", ".queue-a.json.swp", "queue.json",
	} {
		if session, isQueue := sessionOf(file); isQueue {
			t.Errorf("%s is taken for the queue of %q", file, session)
		}
	}
}

// Different sessions never share a file, and a file's name tells its session.
func FuzzFileName(f *testing.F) {
	for _, pair := range [][2]string{{"a", "a.b"}, {"a/b", "a%2Fb"}, {"", " "}, {"..", "."}, {strings.Repeat("x", 200), strings.Repeat("x", 201)}, {"🎉", "\xf0\x9f"}, {"a\n", "a"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		name := fileName(a)
		if (name == fileName(b)) != (a == b) {
			t.Errorf("%q and %q are both %q, or differ without a reason", a, b, name)
		}
		if len(name) > maxName || strings.ContainsAny(name, "/\\.\x00\n:*?\"<>|") {
			t.Errorf("%q is no name: %q", a, name)
		}
		session, isQueue := sessionOf(prefix + name + ".json")
		if !isQueue || !strings.Contains(name, "~") && session != a {
			t.Errorf("%q became %q, which is that of %q, %t", a, name, session, isQueue)
		}
	})
}
