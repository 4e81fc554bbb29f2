package migrate

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
)

// What conclaude's patterns match: a * crosses slashes.
func TestIssue19PatternsOfConclaude(t *testing.T) {
	for _, test := range []struct {
		pattern, want   string
		matches, others []string
	}{
		{"*.lock", "**/*.lock", []string{"a.lock", "a/b.lock"}, []string{"a.lock/x"}},
		{"src/*", "src/**/*", []string{"src/a", "src/a/b"}, []string{"src", "asrc/a"}},
		{"src/*.rs", "src/**/*.rs", []string{"src/a.rs", "src/a/b.rs"}, []string{"src/a.go"}},
		{"foo*", "foo{*,*/**/*}", []string{"foo", "foobar", "foo/a", "foobar/a/b"}, []string{"afoo"}},
		{"a*z.go", "a{*,*/**/*}z.go", []string{"az.go", "abz.go", "a/z.go", "ab/c/dz.go"}, []string{"az.gox"}},
		{"*test*", "**/*test{*,*/**/*}", []string{"test", "a/mytests/b"}, []string{"a/tes"}},
		{"docs/**/*.md", "docs/**/*.md", []string{"docs/a.md", "docs/b/a.md"}, []string{"a.md"}},
		{"./go.mod", "go.mod", []string{"go.mod"}, []string{"x/go.mod"}},
		{`\{a,b\}`, `\{a,b\}`, []string{"{a,b}"}, []string{"a"}},
		{"[ab]?", "[ab]?", []string{"ax"}, []string{"cx"}},
		{"/etc/*", "", nil, nil},
		{"../x", "", nil, nil},
		{"~/x", "", nil, nil},
		{"!x", "", nil, nil},
		{"", "", nil, nil},
	} {
		got, ok := pathPattern(test.pattern)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("%q became %q", test.pattern, got)
		}
		for _, name := range test.matches {
			if !doublestar.MatchUnvalidated(got, name) {
				t.Errorf("%q does not match %q", got, name)
			}
		}
		for _, name := range test.others {
			if doublestar.MatchUnvalidated(got, name) {
				t.Errorf("%q matches %q", got, name)
			}
		}
	}
}

// Braces are alternatives, or the pattern is refused: none may protect nothing in silence.
func TestIssue19BracesOfConclaude(t *testing.T) {
	for pattern, want := range map[string][]string{
		"{package,tsconfig}.json":              {"package.json", "tsconfig.json"},
		"src/{a,b/*}.ts":                       {"src/a.ts", "src/b/**/*.ts"},
		"{*.lock,go.sum}":                      {"**/*.lock", "go.sum"},
		"{a,{b,c}d}":                           {"a", "bd", "cd"},
		"x{,.bak}":                             {"x", "x.bak"},
		"{a,b}{1,2}":                           {"a1", "a2", "b1", "b2"},
		"{a}":                                  {`\{a\}`},
		"{{a,b}}":                              {`\{a\}`, `\{b\}`},
		"a}{b":                                 {`a\}\{b`},
		"{a,b":                                 {`\{a,b`},
		"{}":                                   {`\{\}`},
		"{1..3}.txt":                           nil,
		`\{a,b\}`:                              nil,
		`a\{b,c}`:                              nil,
		"{a,/etc/passwd}":                      nil,
		"{,}":                                  nil,
		strings.Repeat("{a,b}", 20):            nil,
		strings.Repeat("{", 10<<20):            nil,
		strings.Repeat("{a,", 1<<20):           nil,
		"{" + strings.Repeat("a,", 500) + "b}": nil,
	} {
		got, why := pathPatterns(pattern)
		if !slices.Equal(got, want) || (why == "") != (want != nil) {
			t.Errorf("%.40q became %q (%s), want %q", pattern, got, why, want)
		}
	}
	if got, ok := onePattern("{Edit,Write*}"); !ok || got != "{Edit,Write*}" {
		t.Error(got)
	}
	want := []string{"git push", "git push *", "git fetch", "git fetch *", `git \{push,fetch\}`, `git \{push,fetch\} *`}
	if got := commandPatterns("git  {push,fetch}", true); !slices.Equal(got, want) {
		t.Error(got)
	}
}

// Conclaude runs each line by a bash of its own.
func TestIssue19CommandsOfConclaude(t *testing.T) {
	for run, want := range map[string]string{
		"npm test":                           "npm test",
		"cd app && npm test | tee log; true": "cd app && npm test | tee log; true",
		"CI=1 npm test -- --run 'a b'":       "CI=1 npm test -- --run 'a b'",
		"[[ -f x ]]":                         "bash -c '[[ -f x ]]'",
		"diff <(a) <(b)":                     "bash -c 'diff <(a) <(b)'",
		"echo {a,b}":                         "bash -c 'echo {a,b}'",
		"source env.sh; npm test":            "bash -c 'source env.sh; npm test'",
		"make && set -o pipefail":            "bash -c 'make && set -o pipefail'",
		"make &> log":                        "bash -c 'make &> log'",
		"echo 'it' $'s'":                     `bash -c 'echo '\''it'\'' $'\''s'\'''`,
		"# no\n\n a \nb":                     "bash -c a &&\nbash -c b",
		"$CONCLAUDE_CONFIG_DIR/x":            "./x",
	} {
		if got := inShell(commandLines(run)); got != want {
			t.Errorf("%q became %q, want %q", run, got, want)
		}
	}
}

// surveyOf is the report on a project whose .conclaude.yaml has that text.
func surveyOf(t *testing.T, text []byte) Report {
	t.Helper()
	root := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	check(t, os.WriteFile(filepath.Join(root, ".conclaude.yaml"), text, 0o644))
	report, err := Survey(&Draft{Root: root, Getenv: os.Getenv}, []Tool{{"conclaude", planConclaude}})
	check(t, err)
	return report
}

func TestIssue19WindowsLineEndsOfConclaude(t *testing.T) {
	text := []byte("stop:\n  commands:\n    - run: |\n        npm test\n        npm run lint\n      message: Fix it.\n")
	unix, windows := surveyOf(t, text), surveyOf(t, bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")))
	if diff := cmp.Diff(unix.Plans, windows.Plans); diff != "" || len(unix.Plans) == 0 {
		t.Error(diff)
	}
	for i := range unix.Changes {
		if diff := cmp.Diff(string(unix.Changes[i].After), string(windows.Changes[i].After)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestIssue19HugeFilesOfConclaude(t *testing.T) {
	for _, size := range []int{2 << 20, 10 << 20} {
		report := surveyOf(t, bytes.Repeat([]byte("# x\n"), size/4))
		if len(report.Faults) != 1 || !strings.Contains(report.Faults[0].Message, "larger") || len(report.Changes) > 0 {
			t.Errorf("%d bytes: %v", size, report.Faults)
		}
	}
}

func FuzzConclaude(f *testing.F) {
	for _, text := range []string{
		"stop: {commands: [{run: a}]}", "subagentStop: {commands: {'*': [{run: a, timeout: 1}]}}",
		"preToolUse: {uneditableFiles: ['*', {pattern: a/*}], toolUsageValidation: [{tool: Bash, action: block, commandPattern: a}]}",
		"stop: &a {commands: *a}", "'': 1", "a: 1", "preToolUse: []", "preToolUse: {uneditableFiles: ['{a,b}.{c,{d,e}}']}", "rules: {uneditableFiles: [a]}", "stop: {run: \"a $CONCLAUDE_CWD\"}", "stop: {commands: [{run: \"a\\tb\"}]}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		report := surveyOf(t, text)
		for _, fault := range report.Faults {
			if fault.File != ".conclaude.yaml" {
				t.Errorf("a new file cannot be written: %s", fault.Detail())
			}
		}
		for _, plan := range report.Plans {
			for _, item := range plan.Items {
				if item.Where == "" || strings.Contains(item.To, checkName) {
					t.Errorf("%+v", item)
				}
			}
		}
	})
}
