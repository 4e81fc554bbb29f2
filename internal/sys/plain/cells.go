package plain

import "unicode"

// wide are the blocks whose characters take two columns: East Asian scripts and
// pictures. Terminals differ on the rest, which is rare in what gates print.
var wide = [...]struct{ first, last rune }{
	{0x1100, 0x115f},
	{0x2e80, 0x303e},
	{0x3041, 0xa4cf},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x1f300, 0x1f64f},
	{0x1f680, 0x1f6ff},
	{0x1f7e0, 0x1f7eb},
	{0x1f900, 0x1faff},
	{0x20000, 0x3fffd},
}

// Cells is how many columns a terminal gives to a character.
func Cells(r rune) int {
	if r < 0x300 && r != 0xad {
		return 1 // most are, and the tables are long
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0 // drawn over the character before
	}
	for _, block := range wide {
		if r >= block.first && r <= block.last {
			return 2
		}
	}
	return 1
}
