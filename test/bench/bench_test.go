//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func testLab(t *testing.T) *lab {
	t.Helper()
	l, err := newLab("stopgate", "lefthook")
	check(t, err)
	t.Cleanup(l.close)
	return l
}

func ms(times ...int) *series {
	s := &series{}
	for _, n := range times {
		s.add(time.Duration(n)*time.Millisecond, float64(n))
	}
	return s
}

func TestSeries(t *testing.T) {
	s := ms(9, 1, 500, 3, 4)
	if s.median() != 4*time.Millisecond || s.min() != time.Millisecond || s.peak != 500 {
		t.Errorf("median %s, min %s, peak %g", s.median(), s.min(), s.peak)
	}
	if got := s.ratioTo(ms(1, 2, 3)); got != 2 {
		t.Errorf("%g times, want 2", got)
	}
}

func TestReport(t *testing.T) {
	var out strings.Builder
	r := &report{to: &out}
	r.reference("reference", ms(10))
	r.row("at the limit", ms(20), figure{2, "times", 2})
	r.row("over it", ms(21), figure{2.01, "times", 2})
	r.row("without one", ms(50), figure{5, "times", 0})
	want := `| reference | 10.00 | 10.00 | | | |
| at the limit | 20.00 | 20.00 | 2.00 times | 2 | PASS |
| over it | 21.00 | 21.00 | 2.01 times | 2 | FAIL |
| without one | 50.00 | 50.00 | 5.00 times | | reported |
`
	if diff := cmp.Diff(want, out.String()); diff != "" || r.failed != 1 {
		t.Errorf("%d failed\n%s", r.failed, diff)
	}
}

func TestRaceTakesTurns(t *testing.T) {
	l := testLab(t)
	log := l.path("log")
	var programs []program
	for _, name := range []string{"a", "b", "c"} {
		programs = append(programs, program{name: name, dir: l.dir, args: []string{"sh", "-c", "echo " + name + " | tee -a " + log}, wants: name})
	}
	s, err := l.race(t.Context(), 4, programs...)
	check(t, err)
	for i := range s {
		if len(s[i].times) != 4 || s[i].peak <= 0 {
			t.Errorf("%s: %+v", programs[i].name, s[i])
		}
	}
	text, _ := os.ReadFile(log)
	ran := strings.Fields(string(text))
	if len(ran) != 3*(warmUp+4) {
		t.Fatalf("ran %q", ran)
	}
	for ; len(ran) > 0; ran = ran[3:] {
		if ran[0] == ran[1] || ran[1] == ran[2] || ran[0] == ran[2] {
			t.Errorf("a round of %q", ran[:3])
		}
	}
}

// A program that fails, or skips its work, is fast.
func TestRaceNoticesWorkNotDone(t *testing.T) {
	l := testLab(t)
	for _, script := range []string{"echo done; exit 3", "echo nothing to do"} {
		_, err := l.race(t.Context(), 1, program{name: "lazy", dir: l.dir, args: []string{"sh", "-c", script}, wants: "done"})
		if err == nil || !strings.Contains(err.Error(), "lazy") {
			t.Errorf("%s: %v", script, err)
		}
	}
}

func TestRepository(t *testing.T) {
	l := testLab(t)
	dir, err := l.repository(t.Context(), "r", 250, project("true"))
	check(t, err)
	status := func() []string {
		cmd := exec.CommandContext(t.Context(), "git", "status", "--porcelain")
		cmd.Dir, cmd.Env = dir, l.env
		out, err := cmd.Output()
		check(t, err)
		return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	}
	if diff := cmp.Diff([]string{""}, status()); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(dir, fileName(249))); err != nil {
		t.Error(err)
	}
	before, err := os.Stat(filepath.Join(dir, fileName(1)))
	check(t, err)
	check(t, change(dir, 2))
	if diff := cmp.Diff([]string{" M " + fileName(0), " M " + fileName(1)}, status()); diff != "" {
		t.Error(diff)
	}
	if after, err := os.Stat(filepath.Join(dir, fileName(1))); err != nil || after.Size() != before.Size() {
		t.Errorf("the size changed: %v, %v", after, err)
	}
}
