package errand

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func morning() time.Time { return time.Date(2026, 1, 30, 9, 14, 9, 5, time.FixedZone("", 3600)) }

// printed is the log and the tail of what is written in pieces.
func printed(t testing.TB, pieces ...string) (lines []string, tail string) {
	t.Helper()
	o := newOutput(Spec{Log: filepath.Join(t.TempDir(), "new", "log"), Label: "build"}, morning)
	for _, p := range pieces {
		if n, err := o.Write([]byte(p)); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	tail = o.end()
	o.close()
	text, err := os.ReadFile(o.spec.Log)
	if os.IsNotExist(err) {
		return nil, tail
	}
	check(t, err)
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, "2026-01-30T08:14:09Z [build] ")
		if !ok {
			t.Errorf("the line is %q", line)
		}
		lines = append(lines, strings.TrimSuffix(rest, "\n"))
	}
	return lines, tail
}

func TestOutput(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for name, c := range map[string]struct {
		pieces []string
		want   []string
		tail   string
	}{
		"nothing":               {nil, nil, ""},
		"lines":                 {[]string{"a\nb\n"}, []string{"a", "b"}, "a\nb"},
		"no newline at the end": {[]string{"a\nb"}, []string{"a", "b"}, "a\nb"},
		"an empty line":         {[]string{"a\n\nb\n"}, []string{"a", "", "b"}, "a\n\nb"},
		"in pieces":             {[]string{"a", "b\nc", "", "d\n"}, []string{"ab", "cd"}, "ab\ncd"},
		"carriage returns":      {[]string{"10%\r20%\r30%\r\ndone\r\n"}, []string{"30%", "done"}, "30%\ndone"},
		"a return, then more":   {[]string{"10%\r", "20%"}, []string{"20%"}, "20%"},
		"a return at the end":   {[]string{"10%\r"}, []string{"10%"}, "10%"},
		"only a return":         {[]string{"\r"}, []string{""}, ""},
		"NUL and colours":       {[]string{"a\x00b\x1b[31mred\x1b[0m\a\n"}, []string{"abred"}, "abred"},
		"invalid UTF-8":         {[]string{"a\xffb\n"}, []string{"a\uFFFDb"}, "a\uFFFDb"},
		"tabs and indentation":  {[]string{"\tif x {  \n"}, []string{"\tif x {"}, "if x {"},
		"line as long as kept":  {[]string{long + "\n"}, []string{long}, long},
		"a longer one":          {[]string{long, "y\nz\n"}, []string{long + "…", "z"}, "…\nz"},
		"a longer one, redrawn": {[]string{long, "y\rz\n"}, []string{"z"}, "z"},
	} {
		t.Run(name, func(t *testing.T) {
			lines, tail := printed(t, c.pieces...)
			if diff := cmp.Diff(c.want, lines); diff != "" {
				t.Error(diff)
			}
			if tail != c.tail && !(len(c.pieces) > 0 && len(c.pieces[0]) == maxLine && strings.HasSuffix(tail, c.tail) && len(tail) <= maxTail) {
				t.Errorf("the tail is %q", tail)
			}
		})
	}
}

func TestTailIsTheLastLines(t *testing.T) {
	_, tail := printed(t, strings.Repeat("no\n", 100), strings.Repeat("yes\n", tailLines))
	if want := strings.TrimSpace(strings.Repeat("yes\n", tailLines)); tail != want {
		t.Errorf("the tail is %q", tail)
	}
}

// P.6: of more output than the limit the beginning and the end are kept, and how much is missing
// between them.
func TestTooMuchOutput(t *testing.T) {
	for name, c := range map[string]struct {
		limit, lines int
		line         string
	}{
		"the default":           {0, 20 << 10, strings.Repeat("x", 1023)},
		"a limit of its own":    {1 << 20, 20 << 10, strings.Repeat("x", 1023)},
		"empty lines":           {1 << 20, 1 << 20, ""},
		"lines that are cut":    {1 << 20, 1 << 10, strings.Repeat("x", maxLine+1)},
		"hardly any room":       {1, 10, "x"},
		"less than the limit":   {1 << 20, 1 << 10, strings.Repeat("x", 512)},
		"a little more than it": {1 << 20, 2<<10 + 1<<9, strings.Repeat("x", 300)},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOutput(Spec{Log: filepath.Join(t.TempDir(), "log"), Label: "build", LogLimit: int64(c.limit)}, morning)
			_, _ = o.Write([]byte("the beginning\n"))
			for range c.lines {
				_, _ = o.Write([]byte(c.line + "\n"))
			}
			_, _ = o.Write([]byte("the end\n"))
			tail := o.end()
			o.close()
			text, err := os.ReadFile(o.spec.Log)
			check(t, err)
			checkCapped(t, string(text), c.lines+2, o.spec.LogLimit)
			if !strings.HasSuffix(tail, "the end") {
				t.Errorf("the tail is %q", tail[max(0, len(tail)-100):])
			}
		})
	}
}

// checkCapped checks a log of so many lines: those that are not there are counted in it.
func checkCapped(t *testing.T, text string, printed int, limit int64) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	out, notes := 0, 0
	for _, line := range lines {
		_, line, _ = strings.Cut(line, "[build] ")
		if strings.HasPrefix(line, "[stopgate: ") {
			notes++
		}
		if _, count, ok := strings.Cut(line, "left out here: "); ok {
			out, _ = strconv.Atoi(strings.Fields(count)[0])
		}
	}
	if kept := len(lines) - notes; kept+out != printed {
		t.Errorf("%d lines are kept and %d are said to be left out, of %d", kept, out, printed)
	}
	if most := limit + 1000; int64(len(text)) > most { // with the notes
		t.Errorf("it has %d bytes, limit %d", len(text), limit)
	}
	if !strings.HasSuffix(lines[0], "] the beginning") && limit > 1 || !strings.HasSuffix(lines[len(lines)-1], "] the end") {
		t.Errorf("it begins with %.80q and ends with %.80q", lines[0], lines[len(lines)-1])
	}
}

// A huge line says what it has lost.
func TestHugeLineSaysSo(t *testing.T) {
	lines, _ := printed(t, strings.Repeat("x", maxLine), strings.Repeat("y", 3<<20), "\nz\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "x… [stopgate: 3.0 MiB of this line left out]") {
		t.Errorf("%.80q", lines[0][max(0, len(lines[0])-80):])
	}
}

// An owner may have commands without end, which its log has not.
func TestLogThatIsFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	check(t, os.WriteFile(path, nil, 0o600))
	full := OwnerLimit(0)
	check(t, os.Truncate(path, full-51))
	before, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	check(t, err)
	_, err = before.WriteString("\n")
	check(t, errors.Join(err, before.Close()))
	for _, pieces := range []string{"one\ntwo\n", "three\n"} {
		o := newOutput(Spec{Log: path, Label: "s"}, morning)
		_, _ = o.Write([]byte(pieces))
		o.end()
		o.close()
	}
	text, err := os.ReadFile(path)
	check(t, err)
	want := "2026-01-30T08:14:09Z [s] one\n2026-01-30T08:14:09Z [s] two\n[stopgate: this log has 64.0 MiB; further output is dropped]\n"
	if got := string(text[full-50:]); got != want {
		t.Errorf("it goes on with %q", got)
	}
}

// A huge line takes no more memory than what is kept of it.
func TestHugeLine(t *testing.T) {
	o := newOutput(Spec{Log: filepath.Join(t.TempDir(), "log")}, morning)
	piece := []byte(strings.Repeat("x", 1<<20))
	for range 100 {
		_, _ = o.Write(piece)
	}
	if cap(o.line) > 4*maxLine {
		t.Errorf("%d bytes are held", cap(o.line))
	}
	o.end()
	o.close()
}

// What the log did not take, it tells when it does again.
func TestMissingLines(t *testing.T) {
	dir := t.TempDir()
	inTheWay := filepath.Join(dir, "logs")
	check(t, os.WriteFile(inTheWay, nil, 0o600))
	o := newOutput(Spec{Log: filepath.Join(inTheWay, "log"), Label: "s"}, morning)
	_, _ = o.Write([]byte("a\nb\n"))
	check(t, os.Remove(inTheWay))
	_, _ = o.Write([]byte("c\n"))
	tail := o.end()
	o.close()
	text, err := os.ReadFile(o.spec.Log)
	check(t, err)
	first, rest, _ := strings.Cut(string(text), "\n")
	if !strings.Contains(first, "[stopgate: 2 lines of output lost: ") || !strings.HasSuffix(rest, "[s] c\n") || strings.Count(rest, "\n") != 1 {
		t.Errorf("the log is %q", text)
	}
	if tail != "a\nb\nc" {
		t.Errorf("the tail is %q", tail)
	}
}

// A line of which the disk took a part does not run into the next one.
func TestTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	check(t, os.WriteFile(path, []byte("2026-01-30T08:1"), 0o600))
	o := newOutput(Spec{Log: path, Label: "s"}, morning)
	_, _ = o.Write([]byte("a\nb\n"))
	o.close()
	text, err := os.ReadFile(path)
	check(t, err)
	if want := "2026-01-30T08:1\n2026-01-30T08:14:09Z [s] a\n2026-01-30T08:14:09Z [s] b\n"; string(text) != want {
		t.Errorf("the log is %q", text)
	}
}

// A disk that is full at a command's end, and has room later, gets to know what is lost.
func TestLostOutputIsToldAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	inTheWay := filepath.Join(dir, "logs")
	check(t, os.WriteFile(inTheWay, nil, 0o600))
	o := newOutput(Spec{Log: filepath.Join(inTheWay, "log"), Label: "s"}, morning)
	_, _ = o.Write([]byte("a\nb\n"))
	o.end()
	check(t, os.Remove(inTheWay))
	check(t, runner{dir: directory(dir), now: morning}.finish(t.Context(), o, Result{}))
	o.close()
	text, err := os.ReadFile(o.spec.Log)
	check(t, err)
	if !strings.Contains(string(text), "[stopgate: 2 lines of output lost: ") {
		t.Errorf("the log is %q", text)
	}
}

// Lines that were lost take nothing of what the log may hold.
func TestLostOutputTakesNoRoom(t *testing.T) {
	o := newOutput(Spec{Log: filepath.Join(t.TempDir(), "log", "\x00")}, morning)
	_, _ = o.Write([]byte("a\n"))
	if o.room != LogLimit-restSize(LogLimit) {
		t.Errorf("%d bytes are left", o.room)
	}
}

func TestMisplaced(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	check(t, os.WriteFile(file, nil, 0o600))
	other := errors.New("no such shell")
	for at, want := range map[string]string{
		filepath.Join(dir, "gone"): "the directory " + filepath.Join(dir, "gone") + " does not exist",
		file:                       file + " is not a directory",
		dir:                        "no such shell",
	} {
		if got := misplaced(at, other).Error(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func FuzzOutput(f *testing.F) {
	f.Add("a\r\nb\x1b[31m", "\xff\x00c\n")
	f.Add(strings.Repeat("é", maxLine), "\r")
	f.Fuzz(func(t *testing.T, a, b string) {
		lines, tail := printed(t, a, b)
		if n := strings.Count(a+b, "\n"); len(lines) < n || len(lines) > n+1 {
			t.Errorf("%d lines of %d", len(lines), n)
		}
		for _, line := range append(lines, strings.Split(tail, "\n")...) {
			if !utf8.ValidString(line) || len(line) > 4*maxLine {
				t.Errorf("the line is %q", line)
			}
			if i := strings.IndexFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }); i >= 0 {
				t.Errorf("a control character in %q", line)
			}
		}
		if len(tail) > maxTail {
			t.Errorf("a tail of %d bytes", len(tail))
		}
	})
}
