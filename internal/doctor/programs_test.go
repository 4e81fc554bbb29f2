package doctor

import (
	"slices"
	"testing"
)

func TestE16ProgramsOfACommand(t *testing.T) {
	for line, want := range map[string][]string{
		"golangci-lint run":                          {"golangci-lint"},
		"  CGO_ENABLED=0 go test ./... ":             {"go"},
		"A=1 B='2 3' \"my linter\" -x":               {"my linter"},
		"make lint && make test":                     {"make", "make"},
		"make lint; ./check.sh | tee log":            {"make", "./check.sh", "tee"},
		"cd web && npm test && ./x && /bin/y":        {"cd", "npm", "/bin/y"},
		"lint || true":                               {"lint"},
		"lint || fallback":                           {"lint"},
		"lint 2>/dev/null >out && next":              {"lint", "next"},
		"> out lint":                                 {"lint"},
		"! grep -r TODO .":                           {"grep"},
		"exec env A=1 nohup lint":                    {"lint"},
		"(cd x; lint)":                               {"cd", "lint"},
		"{ lint; }":                                  {"lint"},
		"# only words\nlint # more\n":                {"lint"},
		"lint \\\n --flag && next":                   {"lint", "next"},
		"li\\nt":                                     {"lint"},
		"env -i lint":                                nil,
		"command -v lint >/dev/null || exit 0; lint": nil,
		"which lint && lint":                         nil,
		"[ -x lint ] && lint":                        nil,
		"test -x lint && lint":                       nil,
		"if lint; then x; fi":                        nil,
		"for f in *; do lint $f; done":               nil,
		"$LINT run":                                  nil,
		"`which lint` run":                           nil,
		"~/bin/lint":                                 nil,
		"node_modules/.bin/*lint":                    nil,
		"f() { lint; }; f":                           nil,
		"a; f() { lint; }; f":                        nil,
		"lint <<END\nnot a command\nEND":             {"lint"},
		"":                                           nil,
		"'open":                                      nil,
		"\"$HOME/bin/lint\" run":                     nil,
		"lint & other":                               {"lint", "other"},
		"npx eslint .":                               {"npx"},
		"bash -c 'nosuch'":                           {"bash"},
		"go vet ./... && staticcheck ./... && echo ok": {"go", "staticcheck", "echo"},
	} {
		if got := programs(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func FuzzPrograms(f *testing.F) {
	f.Add("A=1 'b c' && (d) 2>&1 | e\\")
	f.Fuzz(func(_ *testing.T, line string) { programs(line) })
}
