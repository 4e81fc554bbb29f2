package commandline

import (
	"strings"
	"testing"
)

// Who asks what a line does must know whether it may do more.
func TestWhatMayBeMoreThanItsWordsIsNotClear(t *testing.T) {
	for line, want := range map[string]bool{
		"":                                      true,
		"git log | head -3 && make":             true,
		"echo 'a $(b)' \"c d\" e\\ f >out 2>&1": true,
		"X=1 make $TARGET ${NAME}":              true,
		"(cd a && make); { b; }":                true,
		"echo '{a,b}' {} a,b x{y}":              true,
		"echo {a,b}":                            false,
		"echo a{1..3}b":                         false,
		"echo $(b)":                             false,
		"echo \"`b`\"":                          false,
		"echo ${a:-$(b)}":                       false,
		"diff <(a) b":                           false,
		"echo $((1 + 2))":                       false,
		"((a = 1))":                             false,
		"cat <<E\nx\nE":                         false,
		"cat <<<x":                              false,
		"echo $'a'":                             false,
		"echo 'a":                               false,
		"echo \"a":                              false,
		"echo ${a":                              false,
		strings.Repeat("( ", maxDepth+1) + "b":  false,
	} {
		if _, clear := Read(line); clear != want {
			t.Errorf("%.40s: %t", line, clear)
		}
	}
}
