// Package workload is what is done to the files of stopgate before the power goes, and what must be
// found of it afterwards.
package workload

import (
	"errors"
	"fmt"
	"strings"
)

// Part is one kind of file. Its operations have numbers from 1 on and come one after the other.
type Part interface {
	// Name is one word.
	Name() string
	// Do performs an operation, by what stopgate itself uses. What returns nil is acknowledged: it
	// survives the loss of power from then on.
	Do(n int) error
	// Check looks at the files after a loss of power. The first so many operations were
	// acknowledged, and one more may have begun.
	Check(acked int) (Seen, error)
}

// Seen is what was found of a part.
type Seen struct {
	Last int // the last operation that is there
	// Refused are lines or files that are not whole, and were not taken for whole: of operations
	// that promise nothing.
	Refused int
}

// What may be wrong.
var (
	ErrLost       = errors.New("acknowledged and lost")
	ErrNotWritten = errors.New("accepted and never written")
	ErrDamaged    = errors.New("damaged")
)

func lost(format string, args ...any) error       { return fault(ErrLost, format, args) }
func notWritten(format string, args ...any) error { return fault(ErrNotWritten, format, args) }
func damaged(format string, args ...any) error    { return fault(ErrDamaged, format, args) }

func fault(kind error, format string, args []any) error {
	return fmt.Errorf("%w: "+format, append([]any{kind}, args...)...)
}

// Parts are all of them, below a state directory.
func Parts(state string) []Part {
	return []Part{
		newJournal(state), newStore(state), newLedger(state), newSupervisor(state), newBlocks(state),
		newQueue(state), newOutbox(state), newPresence(state), newReplaced(state),
	}
}

// content is what operation n of a part writes: of many lengths, and unlike that of any other.
func content(part string, n int) string {
	return strings.Repeat(fmt.Sprintf("%s %d. ", part, n), 1+(n*n*31)%400)
}

// counted checks a number of operations that files tell.
func counted(got, acked int) error {
	switch {
	case got < acked:
		return lost("%d operations, %d were acknowledged", got, acked)
	case got > acked+1:
		return notWritten("%d operations, %d had begun", got, acked+1)
	}
	return nil
}

// same checks the content that goes with the number.
func same(part string, n int, got string) error {
	want := content(part, n)
	if n == 0 {
		want = ""
	}
	if got == want {
		return nil
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	return notWritten("operation %d has %d bytes of %d, and others from byte %d on", n, len(got), len(want), at)
}
