package pictures

import (
	"fmt"
	"strconv"
)

// The colors of GitHub's dark theme, so that the pictures fit there.
const (
	background = "#0d1117"
	foreground = "#e6edf3"
	frame      = "#30363d"
)

// base are the 16 colors that programs choose by name.
var base = [16]string{
	"#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
	"#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
}

// palette is a color of the 256: 16 by name, a cube of 6x6x6, 24 grays.
func palette(n int) string {
	switch {
	case n < 16:
		return base[n]
	case n >= 232:
		return rgb(8+10*(n-232), 8+10*(n-232), 8+10*(n-232))
	}
	n -= 16
	return rgb(level(n/36), level(n/6%6), level(n%6))
}

func level(n int) int {
	if n == 0 {
		return 0
	}
	return 55 + 40*n
}

func rgb(r, g, b int) string { return fmt.Sprintf("#%02x%02x%02x", r, g, b) }

// extended is the color that follows 38 or 48, and how many parameters it takes.
func extended(codes []string) (color string, used int) {
	number := func(i int) int {
		n, _ := strconv.Atoi(codes[i])
		return n
	}
	switch {
	case len(codes) >= 2 && codes[0] == "5":
		return palette(number(1)), 2
	case len(codes) >= 4 && codes[0] == "2":
		return rgb(number(1), number(2), number(3)), 4
	}
	return "", len(codes)
}
