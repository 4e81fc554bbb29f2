package document

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Position is a place in a file. Line and Column count from 1,
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

// Fault is one thing that is wrong with a file.
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

// All is faults in the order of their files. As an error it holds at least one.
type All []Fault

// Error has one line for each fault.
func (a All) Error() string {
	lines := make([]string, len(a))
	for i, fault := range a {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// Detail shows every fault with its excerpt and hint, as plain text.
func (a All) Detail() string {
	blocks := make([]string, len(a))
	for i, fault := range a {
		blocks[i] = fault.Detail()
	}
	return strings.Join(blocks, "\n")
}

// Faults is everything that is wrong with one file or several.
type Faults struct {
	All
	// cause is the error of the file system, where that is the fault.
	cause error
}

// Unwrap lets a caller ask for fs.ErrNotExist and fs.ErrPermission.
func (f *Faults) Unwrap() error { return f.cause }

// InOrder sorts by file and place, with the faults of a file as a whole at
// its end, and drops repetitions: what an anchor holds is decoded once for each
// alias, and an agent that two pipelines use is checked twice.
func InOrder(faults All) All {
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

// OfFile is a fault of a file as a whole.
func OfFile(file, message, hint string) Fault {
	return Fault{Position: Position{File: file}, Message: message, Hint: hint}
}

// Unreadable is the fault of a file that cannot be read.
func Unreadable(file string, err error) *Faults {
	return &Faults{All: All{OfFile(file, WhyUnread(err), "")}, cause: err}
}

// WhyUnread says why a file cannot be read, without its path.
func WhyUnread(err error) string {
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, regular.ErrNotRegular):
		return "is not a regular file"
	case errors.As(err, &at):
		return "cannot be read: " + at.Err.Error()
	}
	return err.Error()
}
