package cli

import (
	"fmt"
	"slices"
	"strings"
)

// table lays rows out in columns. The last column takes what is left of the width; where
// there is too little, the widest of the others gives first. colour may be nil.
func table(rows [][]string, width int, colour func(row, column int, text string) string) []string {
	if len(rows) == 0 {
		return nil
	}
	widths := tableWidths(rows, width)
	lines := make([]string, len(rows))
	for n, row := range rows {
		shown := slices.Clone(row)
		for i := range shown {
			shown[i] = pad(shown[i], widths[i])
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

func tableWidths(rows [][]string, width int) []int {
	const least = 8
	widths := make([]int, len(rows[0]))
	total := 2 * (len(widths) - 1)
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], cells(row[i]))
		}
		total += widths[i]
	}
	last := len(widths) - 1
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
	return widths
}

// printTable prints rows as a table.
func printTable(p *plane, rows [][]string, colour func(row, column int, text string) string) error {
	for _, line := range table(rows, widthOf(p.out), colour) {
		if _, err := fmt.Fprintln(p.out, line); err != nil {
			return err
		}
	}
	return nil
}
