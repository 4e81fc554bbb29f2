package gauntlet

import "testing"

func TestOnlyLastCounts(t *testing.T) {
	for command, want := range map[string]bool{
		"make lint\nmake test\n":                  true,
		"make lint\n\n# and then\nmake test":      true,
		"cd web\nnpm test":                        true,
		"FOO=1 make lint\necho built":             true,
		"make lint | tee log\nmake test":          true,
		"export A=1\nmake lint 2> log\nmake test": true,
		"make test":                                 false,
		"make test\n# the end\n":                    false,
		"set -e\nmake lint\nmake test":              false,
		"set -eu -o pipefail\nmake lint\nmake test": false,
		"export A=1\nB=2\necho begin\nmake test":    false,
		"make lint &&\nmake test":                   false,
		"make lint \\\n  --all\n":                   false,
		"make lint |\n  tee log":                    false,
		"make lint\n  || exit 1\nmake test":         false,
		"make lint || exit 1\nmake test":            false,
		"if test -e x; then\n  make lint\nfi":       false,
		"if test -e x\nthen\n  make lint\nfi":       false,
		"for f in a b\ndo\n  make $f\ndone":         false,
		"while read -r f; do\nmake $f\ndone < list": false,
		"f() {\nmake lint\n}\nf":                    false,
		"cat <<EOF\na\nb\nEOF":                      false,
		"python3 -c '\nimport x\nx.y()\n'":          false,
		"sh -c \"\nmake lint\nmake test\"":          false,
		"(\nmake lint\n)":                           false,
		"make serve &\nmake test":                   false, // that is another matter
		"trap 'rm -f x' EXIT\nmake lint\nmake test": false,
		"": false,
	} {
		if got := onlyLastCounts(command); got != want {
			t.Errorf("%q: %t", command, got)
		}
	}
}
