package protect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// shown is a file's name as it can stand on a screen.
func shown(name string) string {
	if plain.Line(name) == name {
		return name
	}
	return strconv.Quote(name)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// mark shows a line of a diff, whatever is in it: a carriage return hides nothing.
func mark(sign rune, l line) string {
	rest := strings.TrimLeft(l.text, " \t")
	text := []rune(l.text[:len(l.text)-len(rest)] + plain.Line(rest))
	const most = 200 // characters
	if len(text) > most {
		text = append(text[:most], '…')
	}
	return fmt.Sprintf("%5d %c %s", l.number, sign, string(text))
}
