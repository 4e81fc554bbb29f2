package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// Screen draws lines at the end of a terminal's output, in place of those that
// it drew before. The cursor is hidden only within one write, so whatever ends
// the program leaves it visible.
type Screen struct {
	Out  io.Writer
	Size func() (width, height int)
	// Drawn is how many columns each line on the screen takes.
	Drawn []int
}

func NewScreen(file *os.File) *Screen {
	return &Screen{Out: file, Size: func() (int, int) {
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 || height <= 0 {
			return 80, 24
		}
		return width, height
	}}
}

// IsScreen reports whether lines can be drawn in place there.
func IsScreen(out io.Writer) (*os.File, bool) {
	file, ok := fileOf(out)
	return file, ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

const (
	HideCursor = "\x1b[?25l"
	ShowCursor = "\x1b[?25h"
	clearRest  = "\x1b[K" // of the line
)

// Draw replaces what it drew before. It goes over the old lines one by one: to
// clear them at once would make some terminals keep each drawing in their history.
func (s *Screen) Draw(lines []string) {
	width, height := s.Size()
	rows := min(s.rows(width), max(0, height-1)) // what is above is out of reach
	var b strings.Builder
	b.WriteString(HideCursor + up(rows) + "\r")
	s.Drawn = s.Drawn[:0]
	for _, line := range lines {
		b.WriteString(line + clearRest + "\n")
		s.Drawn = append(s.Drawn, Cells(line))
	}
	left := max(0, rows-len(lines))
	b.WriteString(strings.Repeat(clearRest+"\n", left) + clearRest + up(left) + ShowCursor)
	_, _ = io.WriteString(s.Out, b.String()) // a terminal that is gone changes no verdict
}

// rows is how many rows the last drawing takes by now. A terminal that was made
// narrower since has broken its lines.
func (s *Screen) rows(width int) int {
	rows := 0
	for _, cells := range s.Drawn {
		rows += max(1, (cells+width-1)/width)
	}
	return rows
}

func up(rows int) string {
	if rows == 0 {
		return "" // 0 would be taken for 1
	}
	return fmt.Sprintf("\x1b[%dA", rows)
}

// FrameTime is short enough for a spinner to look alive.
const FrameTime = 100 * time.Millisecond

const TimeColumn = 6 // "59m59s"

// Spinner turns once in ten frames.
func Spinner(begun, now time.Time) string {
	turns := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	return turns[max(0, int(now.Sub(begun)/FrameTime))%len(turns)]
}
