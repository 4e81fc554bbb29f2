package protect

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// However many files there are and however long their names, the agent is told in 600 characters, what is
// wrong first.
func TestIssue14TheReasonIsShort(t *testing.T) {
	for _, length := range []int{1, 30, 500} {
		for _, n := range []int{0, 1, 8, 30, 2000} {
			for _, fault := range []string{"", "list new files: " + strings.Repeat("x", length)} {
				s := sight{fault: fault, elsewhere: "/" + strings.Repeat("p", length)}
				for i := range n {
					name := fmt.Sprintf("%s%d_test.go", strings.Repeat("é", length), i)
					s.touches = append(s.touches, Touch{Path: name, What: Changed, Notes: []string{"deleted test TestA (" + name + ":1)"}})
				}
				if n == 0 && fault == "" {
					continue
				}
				got := s.reason()
				if words := utf8.RuneCountInString(got); words > 600 || !strings.HasPrefix(got, "stopgate: ") {
					t.Errorf("%d files, names of %d: %d characters\n%s", n, length, words, got)
				}
				if fault != "" && !strings.Contains(got, "; repair the repository, or ask a person") {
					t.Errorf("the fault is missing:\n%s", got)
				}
				if n > 0 && (!strings.Contains(got, "stopgate approve") || !strings.Contains(got, "0_test.go changed")) {
					t.Errorf("the first of %d files is missing:\n%s", n, got)
				}
				if n == 2000 && !strings.Contains(got, " more\n") {
					t.Errorf("it does not say that there are more:\n%s", got)
				}
			}
		}
	}
}
