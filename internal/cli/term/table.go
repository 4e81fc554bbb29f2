package term

import (
	"slices"
	"strings"
)

// Table lays rows out in columns. The last column takes what is left of the width; where
// there is too little, the widest of the others gives first. On a screen that is narrower
// still, the first column stays whole and the last ones are left out: no line is ever
// longer than the width. colour may be nil.
func Table(rows [][]string, width int, colour func(row, column int, text string) string) []string {
	if len(rows) == 0 {
		return nil
	}
	widths := tableWidths(rows, width)
	columns := fitting(widths, width)
	if columns < len(widths) { // what is left out takes no room from the others
		rows = slices.Clone(rows)
		for n := range rows {
			rows[n] = rows[n][:columns]
		}
		widths = tableWidths(rows, width)
		columns = fitting(widths, width)
	}
	return Columns(rows, widths[:columns], colour)
}

// Columns lays out the first columns of rows in those widths. colour may be nil.
func Columns(rows [][]string, widths []int, colour func(row, column int, text string) string) []string {
	lines := make([]string, len(rows))
	for n, row := range rows {
		shown := slices.Clone(row[:len(widths)])
		for i := range shown {
			shown[i] = Pad(shown[i], widths[i])
			if i == len(shown)-1 {
				shown[i] = strings.TrimRight(shown[i], " ")
			}
			if colour != nil {
				shown[i] = colour(n, i, shown[i])
			}
		}
		lines[n] = strings.TrimRight(strings.Join(shown, "  "), " ")
	}
	return lines
}

// Widths are how wide the columns are that hold rows, and the whole table.
func Widths(rows [][]string) (widths []int, total int) {
	widths = make([]int, len(rows[0]))
	total = 2 * (len(widths) - 1)
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], Cells(row[i]))
		}
		total += widths[i]
	}
	return widths, total
}

// Headed has the first row of a table faint, and another colour for the others.
func Headed(p Paint, colour func(row, column int, text string) string) func(row, column int, text string) string {
	return func(row, column int, text string) string {
		if row == 0 {
			return p.Faint(text)
		}
		return colour(row-1, column, text)
	}
}

func tableWidths(rows [][]string, width int) []int {
	widths, total := Widths(rows)
	last := len(widths) - 1
	const least = 8
	for total > width {
		give := last
		if widths[last] <= 2*least {
			give = slices.Index(widths, slices.Max(widths))
		}
		if widths[give] <= least {
			break
		}
		widths[give]--
		total--
	}
	squeeze(widths[1:], total-width)
	return widths
}

// squeeze takes what is too much from columns that are narrow already, the widest first.
func squeeze(widths []int, excess int) {
	const least = 4
	for ; excess > 0 && len(widths) > 0; excess-- {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= least {
			return
		}
		widths[widest]--
	}
}

// fitting is how many columns there is room for, at least one; that is cut to the width.
func fitting(widths []int, width int) int {
	widths[0] = min(widths[0], width)
	total := widths[0]
	for i, column := range widths[1:] {
		if total += 2 + column; total > width {
			return i + 1
		}
	}
	return len(widths)
}
