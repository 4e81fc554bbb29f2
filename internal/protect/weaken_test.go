package protect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestE20WhatWasWeakenedIsNamed(t *testing.T) {
	tests := []struct {
		name, file, before, after string
		want                      []string
	}{
		{"Go: a test is gone", "p/a_test.go", "package p\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) {}\n", "package p\n\nfunc TestB(t *testing.T) {}\n", []string{"deleted test TestA (p/a_test.go:3)"}},
		{"Go: a test is commented out", "a_test.go", "func TestA(t *testing.T) {}\n", "// func TestA(t *testing.T) {}\n", []string{"deleted test TestA (a_test.go:1)"}},
		{"Go: a test is in a block comment", "a_test.go", "func TestA(t *testing.T) {\n}\n", "/*\nfunc TestA(t *testing.T) {\n}\n*/\n", []string{"deleted test TestA (a_test.go:1)"}},
		{"Go: a test is renamed away", "a_test.go", "func TestA(t *testing.T) {}\n", "func testA(t *testing.T) {}\n", []string{"deleted test TestA (a_test.go:1)"}},
		{"Go: a subtest is gone", "a_test.go", "t.Run(\"empty\", f)\nt.Run(\"full\", f)\n", "t.Run(\"full\", f)\n", []string{`deleted test "empty" (a_test.go:1)`}},
		{"Go: a skip", "a_test.go", "func TestA(t *testing.T) {\n\tcheck()\n}\n", "func TestA(t *testing.T) {\n\tt.Skip(\"flaky\")\n\tcheck()\n}\n", []string{"added skip t.Skip (a_test.go:2)"}},
		{"Go: a build constraint", "a_test.go", "package p\n", "//go:build never\n\npackage p\n", []string{"added skip //go:build (a_test.go:1)"}},
		{"Go: a test moves within its file", "a_test.go", "func TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\n", "func TestB(t *testing.T) {}\nfunc TestA(t *testing.T) {}\n", nil},
		{"Go: a skip moves", "a_test.go", "\tt.Skip(\"a\")\n", "\tt.Skip(\"b\")\n", nil},
		{"Go: minutes are no minimum", "a_test.go", "wait := 5 * time.Minute\n", "wait := 2 * time.Minute\n", nil},
		{"Python: a test is gone", "tests/test_a.py", "def test_a():\n    pass\n\nasync def test_b():\n    pass\n", "def test_a():\n    pass\n", []string{"deleted test test_b (tests/test_a.py:4)"}},
		{"Python: skips", "test_a.py", "def test_a():\n    pass\n", "@pytest.mark.skip(reason='x')\ndef test_a():\n    pytest.skip('y')\n    pass\n", []string{"added skip pytest.mark.skip (test_a.py:1)", "added skip pytest.skip (test_a.py:3)"}},
		{"Python: unittest", "test_a.py", "class T:\n", "@unittest.skipIf(True, '')\nclass T:\n", []string{"added skip unittest.skipIf (test_a.py:1)"}},
		{"Python: an expected failure", "test_a.py", "def test_a(): pass\n", "@pytest.mark.xfail\ndef test_a(): pass\n", []string{"added skip pytest.mark.xfail (test_a.py:1)"}},
		{"Python: a comment is none", "test_a.py", "def test_a(): pass\n", "# use pytest.skip never\ndef test_a(): pass\n", nil},
		{"Python: fail_under", "setup.cfg", "[coverage:report]\nfail_under = 90\n", "[coverage:report]\nfail_under = 75\n", []string{"lowered threshold 90 → 75 (setup.cfg:2)"}},
		{"Python: fail_under is gone", ".coveragerc", "[report]\nfail_under = 90\n", "[report]\n", []string{"removed threshold fail_under = 90 (.coveragerc:2)"}},
		{"JavaScript: tests are gone", "a.test.js", "it('adds', () => {})\ntest(\"it's\", () => {})\n", "", []string{"deleted test 'adds' (a.test.js:1)", `deleted test "it's" (a.test.js:2)`}},
		{"JavaScript: skips", "a.test.ts", "it('a', f)\ndescribe('b', g)\nit('c', h)\n", "it.skip('a', f)\nxdescribe('b', g)\nit.only('c', h)\n", []string{"added skip it.skip (a.test.ts:1)", "added skip xdescribe (a.test.ts:2)", "added skip it.only (a.test.ts:3)"}},
		{"JavaScript: a table", "a.test.ts", "it.each([1])('a %d', f)\n", "", []string{"deleted test 'a %d' (a.test.ts:1)"}},
		{"JavaScript: Jest's thresholds", "package.json", "{\"coverageThreshold\": {\"global\": {\n  \"branches\": 80,\n  \"lines\": 90\n}}}\n", "{\"coverageThreshold\": {\"global\": {\n  \"branches\": 50,\n  \"lines\": 90\n}}}\n", []string{"lowered threshold 80 → 50 (package.json:2)"}},
		{"JavaScript: a limit", "package.json", `"lint": "eslint --max-warnings 0 ."`, `"lint": "eslint --max-warnings 500 ."`, []string{"raised limit 0 → 500 (package.json:1)"}},
		{"Rust: a test is gone", "src/lib.rs", "#[test]\nfn adds() {}\n\n#[tokio::test]\nasync fn waits() {}\n", "#[test]\nfn adds() {}\n", []string{"deleted test waits (src/lib.rs:5)"}},
		{"Rust: a test that is none any more", "src/lib.rs", "#[test]\nfn adds() {}\n", "fn adds() {}\n", []string{"deleted test adds (src/lib.rs:2)"}},
		{"Rust: ignored", "src/lib.rs", "#[test]\nfn adds() {}\n", "#[test]\n#[ignore]\nfn adds() {}\n", []string{"added skip #[ignore (src/lib.rs:2)"}},
		{"Make: a threshold", "Makefile", "COVERAGE_MIN ?= 80\n", "COVERAGE_MIN ?= 8\n", []string{"lowered threshold 80 → 8 (Makefile:1)"}},
		{"Make: a flag", "Makefile", "\tpytest --cov-fail-under=90\n", "\tpytest --cov-fail-under=0\n", []string{"lowered threshold 90 → 0 (Makefile:1)"}},
		{"a higher threshold", "Makefile", "COVERAGE_MIN ?= 80\n", "COVERAGE_MIN ?= 85\n", nil},
		{"nothing", "a_test.go", "x\n", "y\n", nil},
		{"a name that would steer the terminal", "a\x1b[2J_test.go", "func TestA(t *testing.T) {}\n", "", []string{`deleted test TestA ("a\x1b[2J_test.go":1)`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, weakened(tt.file, tt.before, tt.after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNotesAreCapped(t *testing.T) {
	notes := strings.Split("a b c d e", " ")
	if diff := cmp.Diff([]string{"a", "b", "and 3 more"}, capped(notes, 2)); diff != "" {
		t.Error(diff)
	}
}

func TestDiffShowsWhatChanged(t *testing.T) {
	got := Diff("a\nb\nc\nd\n", "a\nB\rhidden\nc\nd\ne\x1b[2J\n", 10)
	want := []string{"    2 - b", "    2 + B hidden", "    5 + e"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Diff("", strings.Repeat("x\n", 30), 2); len(got) != 3 || got[2] != "… and 28 more lines" {
		t.Errorf("got %q", got)
	}
}

func FuzzWeakened(f *testing.F) {
	f.Add("a_test.go", "func TestA(", "/* min 5")
	f.Add("a.py", "min = 5\nmin = 6", "min = 1_0\n")
	f.Fuzz(func(t *testing.T, name, before, after string) {
		for _, note := range weakened(name, before, after) {
			if strings.ContainsAny(note, "\n\r\x1b") {
				t.Errorf("%q", note)
			}
		}
		if got := weakened(name, before, before); len(got) > 0 {
			t.Errorf("nothing changed: %q", got)
		}
	})
}
