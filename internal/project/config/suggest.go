package config

import "strings"

// maxTypos is how far a word may be from the one that was meant. Two letters
// swapped count as two.
const maxTypos = 2

// Suggest returns the candidate that word was most likely meant to be, or "".
// Upper and lower case make no difference.
func Suggest(word string, candidates []string) string {
	// Nobody means a short word by a very long one, and the distance of long
	// words is slow to find.
	const longest = 64
	if len(word) > longest {
		return ""
	}
	best, fewest := "", maxTypos+1
	for _, candidate := range candidates {
		typos := distance(strings.ToLower(word), strings.ToLower(candidate))
		// Words that share no letter are not alike, however short they are.
		if typos < fewest && typos < min(len(word), len(candidate)) {
			best, fewest = candidate, typos
		}
	}
	return best
}

// distance is the number of letters to insert, delete or replace to turn a
// into b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			replace := diagonal
			if x != y {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(to)]
}
