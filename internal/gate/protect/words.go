package protect

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// mark shows a line of a diff, whatever is in it: a carriage return hides nothing.
func mark(sign rune, l line) string {
	rest := strings.TrimLeft(l.text, " \t")
	text := l.text[:len(l.text)-len(rest)] + plain.Line(rest)
	return fmt.Sprintf("%5d %c %s", l.number, sign, plain.Clip(text, 200))
}
