package daemon

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/api"
)

// partOf is what a query answers of an owner's log.
func partOf(t *testing.T, p *plane, q api.LogQuery) (text string, offset, size int64) {
	t.Helper()
	q.Begin = func(o, s int64) { offset, size = o, s }
	var out bytes.Buffer
	check(t, p.Log(t.Context(), anID, q, &out))
	return out.String(), offset, size
}

func TestPartsOfLogs(t *testing.T) {
	c := testCore(newMemory(t))
	p := planeOf(t, c)
	do(t, c, anID, create(anID, shellPlan("one")))
	if text, offset, size := partOf(t, p, api.LogQuery{Offset: 7, Tail: 0}); text != "" || offset != 0 || size != 0 {
		t.Errorf("of none: %q, %d of %d", text, offset, size)
	}

	var all strings.Builder
	var twos []string
	for i := range 5000 { // more than is looked at at first
		step := []string{"one", "two", "t"}[i%3]
		line := errand.Line(noon, step, fmt.Sprintf("line %d of [two] ", i))
		if i%300 == 1 {
			line += "[stopgate: not a label]\n"
		}
		all.WriteString(line)
		if step == "two" {
			twos = append(twos, strings.SplitAfter(line, "\n")...)
			twos = twos[:len(twos)-1] // behind the last newline
		}
	}
	whole := all.String()
	path := logPath(p.opts.StateDir, anID)
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(t, os.WriteFile(path, []byte(whole), 0o600))
	lines := strings.SplitAfter(whole, "\n")
	lines = lines[:len(lines)-1]

	for name, test := range map[string]struct {
		q    api.LogQuery
		want string
	}{
		"all":            {api.LogQuery{}, whole},
		"offset":         {api.LogQuery{Offset: 1000}, whole[1000:]},
		"range":          {api.LogQuery{Offset: 1000, Limit: 50}, whole[1000:1050]},
		"the end":        {api.LogQuery{Offset: int64(len(whole)), Limit: 50}, ""},
		"behind the end": {api.LogQuery{Offset: 1 << 40}, ""},
		"tail":           {api.LogQuery{Tail: 3}, strings.Join(lines[len(lines)-3:], "")},
		"a long tail":    {api.LogQuery{Tail: 4000}, strings.Join(lines[len(lines)-4000:], "")},
		"too long":       {api.LogQuery{Tail: 10_000}, whole},
		"step":           {api.LogQuery{Step: "two"}, strings.Join(twos, "")},
		"tail of a step": {api.LogQuery{Step: "two", Tail: 1500}, strings.Join(twos[len(twos)-1500:], "")},
		"within":         {api.LogQuery{Step: "two", Tail: tailWithin(twos)}, strings.Join(twos[len(twos)-tailWithin(twos):], "")},
		"no such step":   {api.LogQuery{Step: "tw", Tail: 3}, ""},
		"beginning":      {api.LogQuery{Step: "one", Limit: int64(len(lines[0]))}, lines[0]},
	} {
		text, offset, size := partOf(t, p, test.q)
		if text != test.want {
			t.Errorf("%s: %d bytes, want %d: %.200q", name, len(text), len(test.want), text)
		}
		if size != int64(len(whole)) || offset > size || test.q.Step == "" && !strings.HasPrefix(whole[offset:], text) {
			t.Errorf("%s: from %d of %d", name, offset, size)
		}
	}
}

// tailWithin is of how many lines a tail begins with one that has no label.
func tailWithin(lines []string) int {
	for n := 1; ; n++ {
		if strings.HasPrefix(lines[len(lines)-n], "[stopgate") {
			return n
		}
	}
}

// However a log comes, a step's lines are the same.
func TestStepWriter(t *testing.T) {
	text := errand.Line(noon, "a", "one") + "more\n" + errand.Line(noon, "b", "two") + "more\n" + errand.Line(noon, "a", "three")
	want := errand.Line(noon, "a", "one") + "more\n" + errand.Line(noon, "a", "three")
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := &stepWriter{to: &out, filter: stepFilter{step: "a"}}
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			_, err := w.Write(rest[:n])
			check(t, err)
			rest = rest[n:]
		}
		if out.String() != want {
			t.Fatalf("pieces of %d: %q", size, out.String())
		}
	}
}
