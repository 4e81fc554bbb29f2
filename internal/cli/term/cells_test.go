package term

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

func TestCells(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "🙂": 2, "🧪": 2, "🪐": 2, "🟢": 2, "\x1b[31mred\x1b[0m": 3, "✓": 1, "…": 1, "한": 2, "ﾊﾝ": 2,
	} {
		if got := Cells(text); got != want {
			t.Errorf("cells(%q) = %d, not %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"ab", 1, "…"},
		{"ab", 0, ""},
		{"ab", -3, ""},
		{"", 0, ""},
	} {
		if got := Cut(test.text, test.width); got != test.want {
			t.Errorf("cut(%q, %d) = %q, not %q", test.text, test.width, got, test.want)
		}
	}
}

// TestPadIsExact holds whatever is written in columns.
func TestPadIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := plain.Line(rapid.String().Draw(t, "text"))
		width := rapid.IntRange(0, 40).Draw(t, "width")
		if got := Cells(Pad(text, width)); got != width {
			t.Errorf("pad(%q, %d) takes %d columns", text, width, got)
		}
	})
}
