package document

import (
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

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

// Hint is the valid word that was meant, as a person is asked, or what else to say.
func Hint(word string, valid []string, otherwise string) string {
	if meant := Suggest(word, valid); meant != "" {
		return "did you mean " + meant + "?"
	}
	return otherwise
}

// DidYouMean is a hint at the valid word that was meant, or "".
func DidYouMean(word string, valid []string) string {
	if meant := Suggest(word, valid); meant != "" {
		return "did you mean " + strconv.Quote(meant) + "?"
	}
	return ""
}

// Strings are words as plain text.
func Strings[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = string(word)
	}
	return out
}

// OrValid is a hint at the valid word that was meant, or else at all that there are.
func OrValid(what, word string, valid []string) string {
	hint := DidYouMean(word, valid)
	if hint == "" && len(valid) > 0 {
		hint = "valid " + what + "s: " + strings.Join(valid, ", ")
	}
	return hint
}

// Quote shows a text of a file in a message, safe to print and of at most that many
// characters.
func Quote(text string, longest int) string {
	return strconv.Quote(plain.Clip(text, longest))
}
