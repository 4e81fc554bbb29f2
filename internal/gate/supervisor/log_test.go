package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

func init() { children["log"] = childLog }

func logText(t testing.TB, d Dir) string {
	t.Helper()
	text, err := os.ReadFile(d.LogFile())
	check(t, err)
	return string(text)
}

func TestLogLine(t *testing.T) {
	tests := map[string]struct {
		event string
		pairs []any
		want  string
	}{
		"as the seed has it":  {"supervisor-hook invoked", []any{"session_id", "abc123", "iteration", "4/10"}, "supervisor-hook invoked session_id=abc123 iteration=4/10"},
		"no pairs":            {"done", nil, "done"},
		"other kinds":         {"done", []any{"n", 3, "took", 1500 * time.Millisecond, "ok", true, "err", errors.New("no such")}, `done n=3 took=1.5s ok=true err="no such"`},
		"empty":               {"done", []any{"x", ""}, `done x=""`},
		"lines":               {"a\nb\r\n", []any{"x", "1\n2026-11-15T08:00:00.000Z forged"}, `a b x="1\n2026-11-15T08:00:00.000Z forged"`},
		"quotes":              {"done", []any{"x", `"a"`, "y", `a\b`}, `done x="\"a\"" y=a\b`},
		"escapes":             {"\x1b[31mred", []any{"x", "\x1b[31m", "y", "\x00", "z", "a\u202eb"}, `red x="\x1b[31m" y="\x00" z="a\u202eb"`},
		"other white space":   {"done", []any{"x", "a\u00a0b", "y", "a\tb", "z", "a\u2028b"}, `done x="a\u00a0b" y="a\tb" z="a\u2028b"`},
		"Chinese":             {"任务已完成", []any{"feedback", "请继续完成任务"}, "任务已完成 feedback=请继续完成任务"},
		"bytes that are none": {"done", []any{"x", "a\xffb"}, `done x="a\xffb"`},
		"lone key":            {"done", []any{"a", 1, "b"}, "done a=1 b"},
		"key with a line":     {"done", []any{"a\nb", 1}, `done "a\nb"=1`},
		"long":                {"done", []any{"x", strings.Repeat("y", 10<<20)}, "done x=" + strings.Repeat("y", maxValue) + "…"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			for range 2 {
				check(t, d.Log(noon, tt.event, tt.pairs...))
			}
			want := "2026-11-15T11:00:00.120Z " + tt.want + "\n"
			if got := logText(t, d); got != want+want {
				t.Errorf("got  %.300swant %.300s", got, want)
			}
		})
	}
}

func TestLogIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o660} {
		d := newDir(t)
		check(t, os.MkdirAll(d.path, 0o700))
		check(t, os.WriteFile(d.LogFile(), []byte("old\n"), mode))
		check(t, os.Chmod(d.LogFile(), mode)) // whatever the umask
		check(t, d.Log(noon, "new"))
		info, err := os.Stat(d.LogFile())
		check(t, err)
		if info.Mode().Perm() != 0o600 || !strings.HasPrefix(logText(t, d), "old\n2026") {
			t.Errorf("%v became %v: %s", mode, info.Mode(), logText(t, d))
		}
	}
}

func TestTornLineEnds(t *testing.T) {
	d := newDir(t)
	check(t, os.MkdirAll(d.path, 0o700))
	check(t, os.WriteFile(d.LogFile(), []byte("2026-11-15T08:00"), 0o600))
	check(t, d.Log(noon, "next"))
	if got := logText(t, d); got != "2026-11-15T08:00\n2026-11-15T11:00:00.120Z next\n" {
		t.Errorf("got %q", got)
	}
}

func TestLogRotates(t *testing.T) {
	d := newDir(t)
	check(t, os.MkdirAll(d.path, 0o700))
	check(t, os.WriteFile(d.LogFile(), bytes.Repeat([]byte("1\n"), maxLog/2-1), 0o600))
	check(t, d.Log(noon, "fits"))
	if exists(d.LogFile() + ".1") {
		t.Error("it rotated too early")
	}
	check(t, d.Log(noon, "starts"))
	if got := logText(t, d); got != "2026-11-15T11:00:00.120Z starts\n" {
		t.Errorf("the new one holds %.200q", got)
	}
	old, err := os.ReadFile(d.LogFile() + ".1")
	check(t, err)
	if !bytes.HasSuffix(old, []byte(" fits\n")) || len(old) < maxLog {
		t.Errorf("the old one has %d bytes", len(old))
	}
	check(t, os.WriteFile(d.LogFile(), bytes.Repeat([]byte("2\n"), maxLog/2), 0o600))
	check(t, d.Log(noon, "starts"))
	if old, err = os.ReadFile(d.LogFile() + ".1"); err != nil || old[0] != '2' {
		t.Errorf("the old one is not the last, %v", err)
	}
}

// While somebody else rotates, lines go where they went.
func TestOneRotatesAtATime(t *testing.T) {
	d := newDir(t)
	check(t, d.Log(noon, "first"))
	d.rotate()
	if exists(d.LogFile() + ".1") {
		t.Fatal("what somebody else has rotated was rotated again")
	}
	check(t, os.WriteFile(d.LogFile(), bytes.Repeat([]byte("1\n"), maxLog/2), 0o600))
	unlock, err := lockfile.Acquire(t.Context(), d.join(logLockName), 0)
	check(t, err)
	check(t, d.Log(noon, "second"))
	if exists(d.LogFile()+".1") || !strings.HasSuffix(logText(t, d), " second\n") {
		t.Error("two rotated")
	}
	unlock()
	check(t, d.Log(noon, "third"))
	if !exists(d.LogFile() + ".1") {
		t.Error("nobody rotated")
	}
}

// A log that cannot rotate still takes lines.
func TestLogThatCannotRotate(t *testing.T) {
	d := newDir(t)
	check(t, os.MkdirAll(d.LogFile()+".1/full", 0o700))
	check(t, os.WriteFile(d.LogFile(), bytes.Repeat([]byte("1\n"), maxLog/2), 0o600))
	check(t, d.Log(noon, "on"))
	if !strings.HasSuffix(logText(t, d), " on\n") {
		t.Error("the line is not there")
	}
}

func TestLogInPlaceOfWhichIsADirectory(t *testing.T) {
	d := newDir(t)
	check(t, os.MkdirAll(d.LogFile(), 0o700))
	if err := d.Log(noon, "x"); !errors.Is(err, regular.ErrNotRegular) {
		t.Errorf("got %v", err)
	}
}

// childLog writes lines that say who wrote them.
func childLog(args []string) error {
	lines, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	waitForStart()
	for i := range lines {
		if err := At(args[0]).Log(time.Now(), "line", "by", args[1], "n", i, "fill", strings.Repeat("x", 900)); err != nil {
			return err
		}
	}
	return nil
}

// Of a crowd that rotates the log once, every line is in one of the two files,
// whole and once.
func TestManyLogWriters(t *testing.T) {
	const processes, lines = 12, 50
	d := newDir(t)
	check(t, os.MkdirAll(d.path, 0o700))
	// So full that it rotates in the middle.
	check(t, os.WriteFile(d.LogFile(), bytes.Repeat([]byte("1\n"), (maxLog-processes*lines*500)/2), 0o600))
	together(t, processes, "log", func(i int) []string { return []string{d.path, fmt.Sprint(i), fmt.Sprint(lines)} })
	old, err := os.ReadFile(d.LogFile() + ".1")
	check(t, err)
	line := regexp.MustCompile(`^\S{24} line by=(\d+) n=(\d+) fill=x{900}\n$`)
	seen := map[string]int{}
	for text := range strings.Lines(string(old) + logText(t, d)) {
		if m := line.FindStringSubmatch(text); m != nil {
			seen[m[1]+"/"+m[2]]++
		} else if text != "1\n" && text != "\n" {
			t.Fatalf("torn line %.100q", text)
		}
	}
	if len(seen) != processes*lines {
		t.Errorf("%d lines, want %d", len(seen), processes*lines)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("line %s is there %d times", id, n)
		}
	}
}
