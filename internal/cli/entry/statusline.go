package entry

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/stopgate/stopgate/internal/cli/statusline"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// NewStatusLine documents the command; Answer runs it before the tree is built.
func NewStatusLine() *cobra.Command {
	return &cobra.Command{
		Use:   "statusline",
		Short: "Print Claude Code's status line: last stop, open failures, queue, cost",
		Long: `Print one line for the status line of Claude Code: how the session's last stop was answered,
how many gates are open (they failed and have not passed since), how far the queue of the session
is, and what the session and the supervisor's reviews of it cost.

"stopgate hooks install --statusline" adds it to Claude Code's settings. By hand, add this to
~/.claude/settings.json:

  "statusLine": {"type": "command", "command": "stopgate statusline",
                 "refreshInterval": 5}

Claude Code writes JSON to standard input. COLUMNS limits the width, NO_COLOR turns colours off.

Exit code: always 0. What cannot be read is left out of the line.`,
		Example:               `  echo '{"session_id": "ID", "cwd": "/home/me/proj"}' | stopgate statusline`,
		DisableFlagsInUseLine: true,
		Args:                  term.NoArgs,
		RunE:                  func(*cobra.Command, []string) error { return term.WithCode(nil, statusLine()) },
	}
}

// statusLine prints the line. Claude Code shows what it gets, so whatever breaks, there is nothing to
// read but one short line, and no error.
func statusLine() int {
	defer func() { _ = recover() }() // what was printed until then stands
	printStatusLine(os.Stdin, os.Stdout)
	return term.ExitOK
}

// statusPatience bounds the wait for the input, which Claude Code writes at once.
const statusPatience = time.Second

func printStatusLine(stdin *os.File, out io.Writer) {
	if xterm.IsTerminal(int(stdin.Fd())) {
		fmt.Fprintln(out, "stopgate: this is for Claude Code's status line; see: stopgate statusline --help")
		return
	}
	ownEnvironment()
	raw, err := hook.Read(stdin, statusPatience)
	in, ok := hook.DecodeStatusLine(raw)
	state, noState := paths.StateDir()
	if err != nil || !ok || noState != nil {
		fmt.Fprintln(out, "stopgate: no status")
		return
	}
	place := statusline.Place{StateDir: state, Environ: os.Environ(), Now: time.Now}
	view := place.Look(in)
	fmt.Fprintln(out, view.Line(statusPaint(), statusWidth()))
}

// statusPaint colours although the output is a pipe: Claude Code shows colours.
func statusPaint() term.Paint {
	return term.Paint(os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

// statusWidth is how many columns there are, where the caller says.
func statusWidth() int {
	n, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || n <= 0 {
		return math.MaxInt32
	}
	return n
}
