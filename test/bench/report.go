//go:build unix

package main

import (
	"fmt"
	"io"
)

// report is the tables of docs/dev/benchmarks.md.
type report struct {
	to     io.Writer
	failed int
}

// figure is what a row is about, and the limit that it must not pass. Without a
// limit it is only reported.
type figure struct {
	value float64
	unit  string
	limit float64
}

func (r *report) table(title string) {
	fmt.Fprintf(r.to, "\n%s\n\n| program | median ms | min ms | figure | limit | |\n|---|---|---|---|---|---|\n", title)
}

// reference is a row for what others are measured against.
func (r *report) reference(name string, s *series) {
	fmt.Fprintf(r.to, "| %s | | | |\n", times(name, s))
}

// row is one program: its times, and what they come to.
func (r *report) row(name string, s *series, f figure) {
	fmt.Fprintf(r.to, "| %s | %.2f %s | %s\n", times(name, s), f.value, f.unit, r.judge(f))
}

func times(name string, s *series) string {
	return fmt.Sprintf("%s | %.2f | %.2f", name, s.median().Seconds()*1e3, s.min().Seconds()*1e3)
}

func (r *report) judge(f figure) string {
	switch {
	case f.limit == 0:
		return "| reported |"
	case f.value <= f.limit:
		return fmt.Sprintf("%g | PASS |", f.limit)
	}
	r.failed++
	return fmt.Sprintf("%g | FAIL |", f.limit)
}
