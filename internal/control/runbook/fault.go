package runbook

import (
	"strings"

	"github.com/stopgate/stopgate/internal/project/config"
)

// Fault is one thing that is wrong with a runbook.
type Fault = config.Fault

// Faults is everything that is wrong with one runbook or several, in the order of the
// files. As an error it holds at least one.
type Faults []Fault

// Error has one line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// Detail shows every fault with its excerpt and its hint, as plain text.
func (f Faults) Detail() string {
	blocks := make([]string, len(f))
	for i, fault := range f {
		blocks[i] = fault.Detail()
	}
	return strings.Join(blocks, "\n")
}
