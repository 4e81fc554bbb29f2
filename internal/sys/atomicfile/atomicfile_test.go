package atomicfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

var check = checktest.OK

// children are what the test binary is instead of testing.
var children = map[string]func(args []string) error{"write": childWrite}

func TestMain(m *testing.M) {
	if processtest.Run(children) {
		return
	}
	environtest.Clean()
	os.Exit(m.Run())
}

// childWrite writes the file for ever, and says when a write is done.
func childWrite(args []string) error {
	for i := 0; ; i++ {
		if err := Write(args[0], pattern(byte(i)), 0o600); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

// pattern is content that shows whether it is whole: many times the same byte.
func pattern(b byte) []byte { return bytes.Repeat([]byte{b}, 300_000) }

func whole(data []byte) bool {
	return len(data) == 300_000 && bytes.Count(data, data[:1]) == len(data)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWrite(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		for range rapid.IntRange(1, 3).Draw(rt, "times") {
			data := rapid.SliceOf(rapid.Byte()).Draw(rt, "data")
			perm := os.FileMode(rapid.SampledFrom([]int{0o600, 0o644, 0o700, 0o400, 0o666}).Draw(rt, "perm"))
			write := rapid.SampledFrom([]func(string, []byte, os.FileMode) error{Write, Exchange, Replace}).Draw(rt, "how")
			if err := write(path, data, perm); err != nil {
				rt.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(got, data) {
				rt.Fatalf("got %q, %v; want %q", got, err, data)
			}
			info, err := os.Stat(path)
			if err != nil {
				rt.Fatal(err)
			}
			if runtime.GOOS != "windows" && info.Mode().Perm() != perm {
				rt.Fatalf("mode %o, want %o, whatever the umask", info.Mode().Perm(), perm)
			}
		}
		if got := names(t, dir); len(got) != 1 {
			rt.Fatalf("left behind: %q", got)
		}
	})
}

func TestMakesParents(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "file")
	check(t, Write(path, []byte("x"), 0o600))
	for _, parent := range []string{"a", "a/b"} {
		info, err := os.Stat(filepath.Join(dir, parent))
		check(t, err)
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %o, want 700", parent, info.Mode().Perm())
		}
	}
}

func TestLongName(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), strings.Repeat("n", 255)), nil, 0o600); err != nil {
		t.Error(err)
	}
}

func TestReplacesALinkNotItsTarget(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	check(t, os.WriteFile(target, []byte("old"), 0o600))
	environtest.Symlink(t, target, link)
	check(t, Write(link, []byte("new"), 0o600))
	if got, _ := os.ReadFile(target); string(got) != "old" {
		t.Errorf("the target holds %q", got)
	}
}

func TestFailureLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "is-a-directory")
	check(t, os.MkdirAll(filepath.Join(blocked, "full"), 0o700))
	err := Write(blocked, []byte("x"), 0o600)
	if err == nil {
		t.Fatal("want an error")
	}
	if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "already closed") {
		t.Errorf("the error says more than what failed: %q", err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left behind: %q", got)
	}
}

func TestParentIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	if err := Write(filepath.Join(file, "below"), nil, 0o600); err == nil {
		t.Error("want an error")
	}
}

func TestConcurrentWritersNeverMix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			for range 5 {
				if err := Write(path, pattern(byte(i)), 0o600); err != nil {
					t.Error(err)
				}
				if data, err := regular.Read(path, 1<<20); err != nil || !whole(data) {
					t.Errorf("a reader sees a mixture: %v", err)
				}
			}
		})
	}
	group.Wait()
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("left behind: %q", got)
	}
}

func TestKilledWriterNeverLeavesHalfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for round := range 30 {
		processtest.Kill(t, round, 5*time.Millisecond, "write", path)
		if data, err := os.ReadFile(path); err != nil || !whole(data) {
			t.Fatalf("round %d: half a file of %d bytes, %v", round, len(data), err)
		}
	}
}
