package review

import "github.com/stopgate/stopgate/internal/sys/prose"

// objects are the outermost JSON objects in what a reviewer printed.
func objects(text []byte) (found [][]byte) {
	var before []int // how many were found before each that is open
	s := prose.Scanner{
		Enter: func() { before = append(before, len(found)) },
		Leave: func(start, end int, object bool) {
			inside := before[len(before)-1]
			before = before[:len(before)-1]
			if object && end-start >= len(`{"status":"fail"}`) { // no answer is shorter
				found = append(found[:inside], text[start:end])
			}
		},
		GiveUp: func() { before = before[:0] },
	}
	s.Scan(text)
	return found
}
