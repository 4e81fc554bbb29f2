package term

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// teletype is as much of a terminal as our drawings need: it never scrolls.
type teletype struct {
	width    int
	rows     [][]rune
	row, col int
	hidden   bool
}

func (tt *teletype) Write(p []byte) (int, error) {
	text := string(p)
	for text != "" {
		switch {
		case strings.HasPrefix(text, HideCursor):
			tt.hidden, text = true, text[len(HideCursor):]
		case strings.HasPrefix(text, ShowCursor):
			tt.hidden, text = false, text[len(ShowCursor):]
		case strings.HasPrefix(text, clearRest):
			tt.line()
			tt.rows[tt.row] = tt.rows[tt.row][:min(tt.col, len(tt.rows[tt.row]))]
			text = text[len(clearRest):]
		case strings.HasPrefix(text, "\x1b["):
			n, rest, _ := strings.Cut(text[2:], "A")
			rows, err := strconv.Atoi(n)
			if err != nil {
				panic("unknown sequence " + strconv.Quote(text))
			}
			tt.row, text = max(0, tt.row-rows), rest
		default:
			r := []rune(text)[0]
			tt.put(r)
			text = text[len(string(r)):]
		}
	}
	return len(p), nil
}

func (tt *teletype) put(r rune) {
	switch r {
	case '\r':
		tt.col = 0
		return
	case '\n':
		tt.row, tt.col = tt.row+1, 0
		tt.line()
		return
	}
	if tt.col == tt.width {
		tt.row, tt.col = tt.row+1, 0
	}
	tt.line()
	line := tt.rows[tt.row]
	for len(line) <= tt.col {
		line = append(line, ' ')
	}
	line[tt.col] = r
	tt.rows[tt.row] = line
	tt.col++
}

func (tt *teletype) line() {
	for len(tt.rows) <= tt.row {
		tt.rows = append(tt.rows, nil)
	}
}

// narrow breaks the lines, as terminals do.
func (tt *teletype) narrow(width int) {
	var rows [][]rune
	at := 0
	for i, line := range tt.rows {
		if i == tt.row {
			at = len(rows)
		}
		for len(line) > width {
			rows, line = append(rows, line[:width:width]), line[width:]
		}
		rows = append(rows, line)
	}
	tt.rows, tt.row, tt.width = rows, at, width
}

func (tt *teletype) String() string {
	lines := make([]string, len(tt.rows))
	for i, line := range tt.rows {
		lines[i] = string(line)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// TestScreenShowsTheLastDrawing is the point of it: whatever was drawn before, and
// however narrow the terminal has become, only the last drawing is to be seen, and
// what was there before it is not touched.
func TestScreenShowsTheLastDrawing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tt := &teletype{width: rapid.IntRange(10, 30).Draw(t, "width")}
		s := &Screen{Out: tt, Size: func() (int, int) { return tt.width, 100 }}
		_, _ = tt.Write([]byte("before\n"))
		for range rapid.IntRange(1, 6).Draw(t, "drawings") {
			lines := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,40}`), 0, 5).Draw(t, "lines")
			for i := range lines {
				lines[i] = Cut(lines[i], tt.width)
			}
			s.Draw(lines)
			if want := strings.TrimRight("before\n"+strings.Join(lines, "\n"), "\n"); tt.String() != want {
				t.Fatalf("the screen shows\n%s\nnot\n%s", tt, want)
			}
			if tt.hidden {
				t.Fatal("the cursor is hidden after a drawing")
			}
			if tt.row != 1+len(lines) || tt.col != 0 {
				t.Fatalf("the cursor is at %d,%d after %d lines", tt.row, tt.col, len(lines))
			}
			if rapid.Bool().Draw(t, "resize") {
				tt.narrow(rapid.IntRange(7, tt.width).Draw(t, "narrower"))
			}
		}
	})
}
