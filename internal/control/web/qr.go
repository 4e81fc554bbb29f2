package web

import (
	"strings"

	"rsc.io/qr"
)

// quiet is how many light squares stand around a code.
const quiet = 2

// drawQR draws a QR code in lines of half blocks: two rows of squares in one line, dark squares as
// blanks, for terminals whose background is dark. Where the background is light the code is inverted,
// which phones read too. It is "" for a text that is too long.
func drawQR(text string) string {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return ""
	}
	light := func(x, y int) bool { return !code.Black(x, y) } // also outside of it
	blocks := map[[2]bool]string{{true, true}: "█", {true, false}: "▀", {false, true}: "▄", {false, false}: " "}
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		for x := -quiet; x < code.Size+quiet; x++ {
			b.WriteString(blocks[[2]bool{light(x, y), light(x, y+1)}])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
