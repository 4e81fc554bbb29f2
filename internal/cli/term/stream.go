package term

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// stream is one of the program's outputs. Whatever is written to it, a terminal is not
// steered by it.
type stream struct {
	io.Writer
	file *os.File
}

// FilterOutput has everything that a command tree prints pass the filter.
func FilterOutput(root *cobra.Command) {
	root.SetOut(StreamTo(os.Stdout))
	root.SetErr(StreamTo(os.Stderr))
}

func StreamTo(file *os.File) stream { return stream{plain.Writer(file), file} }

// fileOf is the file behind an output, for those who ask about the terminal.
func fileOf(out io.Writer) (*os.File, bool) {
	switch out := out.(type) {
	case *os.File:
		return out, true
	case stream:
		return out.file, true
	}
	return nil, false
}
