package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Position is a place in a configuration file. Line and Column count from 1,
// the column in characters; line 0 stands for the file as a whole.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}

// Fault is one thing that is wrong with a configuration file.
type Fault struct {
	Position
	Message string `json:"message"`
	// Excerpt is the line of the file and, below it, carets under the part
	// that is meant.
	Excerpt string `json:"excerpt,omitempty"`
	// Hint says what to write instead.
	Hint string `json:"hint,omitempty"`
}

func (f Fault) String() string { return f.Position.String() + ": " + f.Message }

// Detail is the fault with its excerpt and its hint, in several lines.
func (f Fault) Detail() string {
	var b strings.Builder
	b.WriteString(f.String())
	b.WriteByte('\n')
	number := strconv.Itoa(f.Line)
	margin := strings.Repeat(" ", len(number))
	if source, carets, ok := strings.Cut(f.Excerpt, "\n"); ok {
		b.WriteString("  " + number + " | " + source + "\n")
		b.WriteString("  " + margin + " | " + carets + "\n")
	}
	if f.Hint != "" {
		b.WriteString("  hint: " + f.Hint + "\n")
	}
	return b.String()
}

// Faults is everything that is wrong with one configuration file or several, in
// the order of the files. It is the only error that this package returns, and it always
// holds at least one fault.
type Faults struct {
	All []Fault
	// cause is the error of the file system, where that is the fault.
	cause error
}

// Error has one line for each fault.
func (f *Faults) Error() string {
	lines := make([]string, len(f.All))
	for i, fault := range f.All {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// Detail shows every fault with its excerpt and hint, as plain text.
func (f *Faults) Detail() string {
	blocks := make([]string, len(f.All))
	for i, fault := range f.All {
		blocks[i] = fault.Detail()
	}
	return strings.Join(blocks, "\n")
}

// Unwrap lets a caller ask for fs.ErrNotExist and fs.ErrPermission.
func (f *Faults) Unwrap() error { return f.cause }

// inFileOrder sorts by file and place, with the faults of a file as a whole at
// its end, and drops repetitions: what an anchor holds is decoded once for each
// alias.
func inFileOrder(faults []Fault) []Fault {
	whole := func(f Fault) int {
		if f.Line == 0 {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(whole(a), whole(b)),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(faults)
}
