package protect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/plain"
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
		{"Go: only in long runs", "a_test.go", "func TestA(t *testing.T) {\n", "func TestA(t *testing.T) {\n\tif testing.Short() { return }\n", []string{"added skip testing.Short() (a_test.go:2)"}},
		{"Go: Ginkgo", "a_test.go", "It(\"a\", f)\nDescribe(\"b\", g)\n", "PIt(\"a\", f)\nFDescribe(\"b\", g)\n", []string{"added skip PIt (a_test.go:1)", "added skip FDescribe (a_test.go:2)"}},
		{"Go: a flag", "Makefile", "\tgo test ./...\n", "\tgo test -skip TestA ./...\n", []string{"added skip go test -skip (Makefile:1)"}},
		{"Python: a mark for all", "test_a.py", "import pytest\n", "import pytest\npytestmark = pytest.mark.skipif(True, reason='')\n", []string{"added skip pytest.mark.skipif (test_a.py:2)"}},
		{"Python: unittest expects a failure", "test_a.py", "def test_a(self): pass\n", "@expectedFailure\ndef test_a(self): pass\n", []string{"added skip @expectedFailure (test_a.py:1)"}},
		{"Python: unittest in a test", "test_a.py", "x\n", "x\nself.skipTest('later')\n", []string{"added skip .skipTest (test_a.py:2)"}},
		{"Python: options", "pyproject.toml", "addopts = \"-ra\"\n", "addopts = \"-ra --deselect tests/test_a.py -m 'not slow'\"\n", []string{"added skip --deselect (pyproject.toml:1)", "added skip -m 'not (pyproject.toml:1)"}},
		{"Python: a comment behind code is none", "test_a.py", "x = 1\n", "x = 1  # never pytest.skip() here\n", nil},
		{"Python: no comment but a text", "test_a.py", "x = 1\n", "x = ' # '; pytest.skip()\n", []string{"added skip pytest.skip (test_a.py:1)"}},
		{"Python: coverage in TOML", "pyproject.toml", "[tool.coverage.report]\nfail_under = 92.5\n", "[tool.coverage.report]\nfail_under = 92\n", []string{"lowered threshold 92.5 → 92 (pyproject.toml:2)"}},
		{"Python: switches", "setup.cfg", "xfail_strict = true\nbranch = True\n", "xfail_strict = false\nbranch = True\n", []string{"switched off xfail_strict (setup.cfg:1)"}},
		{"JavaScript: node:test", "a.test.mjs", "it('a', f)\ntest('b', g)\n", "it('a', {skip: true}, f)\ntest('b', { todo: 'later' }, g)\n", []string{"added skip skip: true (a.test.mjs:1)", "added skip todo (a.test.mjs:2)"}},
		{"JavaScript: node:test in a test", "a.test.mjs", "test('a', (t) => {\n", "test('a', (t) => {\n  t.skip('later')\n", []string{"added skip t.skip (a.test.mjs:2)"}},
		{"JavaScript: Vitest", "a.test.ts", "it('a', f)\ntest('b', g)\ntest('c', h)\n", "it.fails('a', f)\ntest.skipIf(true)('b', g)\ntest('c', { fails: true }, h)\n", []string{"added skip it.fails (a.test.ts:1)", "added skip test.skipIf (a.test.ts:2)", "added skip fails: true (a.test.ts:3)"}},
		{"JavaScript: Mocha", "a.spec.js", "it('a', function () {\n", "it('a', function () {\n  this.skip()\n", []string{"added skip this.skip (a.spec.js:2)"}},
		{"JavaScript: Playwright", "a.spec.ts", "test('a', f)\n", "test.describe.fixme('a', f)\ntest.fail(true)\n", []string{"added skip test.describe.fixme (a.spec.ts:1)", "added skip test.fail (a.spec.ts:2)"}},
		{"JavaScript: paths", "jest.config.js", "module.exports = {\n", "module.exports = {\n  testPathIgnorePatterns: ['slow'],\n", []string{"added skip testPathIgnorePatterns (jest.config.js:2)"}},
		{"JavaScript: a comment behind code is none", "a.test.js", "f()\n", "f() // it.skip('a') and skip: true\n", nil},
		{"JavaScript: nyc is switched off", ".nycrc.json", "{\n  \"check-coverage\": true,\n", "{\n  \"check-coverage\": false,\n", []string{"switched off check-coverage (.nycrc.json:2)"}},
		{"JavaScript: nyc's flag is gone", "package.json", `"test": "nyc --check-coverage mocha"`, `"test": "nyc mocha"`, []string{"switched off check-coverage (package.json:1)"}},
		{"JavaScript: nyc is switched on", ".nycrc.json", "\"check-coverage\": false\n", "\"check-coverage\": true\n", nil},
		{"JavaScript: no tests pass", "package.json", `"test": "jest"`, `"test": "jest --passWithNoTests"`, []string{"switched on passWithNoTests (package.json:1)"}},
		{"JavaScript: Vitest's thresholds", "vitest.config.ts", "thresholds: { lines: 90, perFile: true }\n", "thresholds: { lines: 70, perFile: false }\n", []string{"removed threshold thresholds: { lines: 90, perFile: true } (vitest.config.ts:1)", "switched off perFile (vitest.config.ts:1)"}},
		{"Codecov: a target", "codecov.yml", "coverage:\n  status:\n    project:\n      default:\n        target: 80%\n", "coverage:\n  status:\n    project:\n      default:\n        target: 60%\n", []string{"lowered threshold 80 → 60 (codecov.yml:5)"}},
		{"Codecov: any target", ".codecov.yml", "target: 80%\n", "target: auto\n", []string{"removed threshold target: 80% (.codecov.yml:1)"}},
		{"Codecov: a fall", "codecov.yml", "threshold: 1%\n", "threshold: 20%\n", []string{"raised limit 1 → 20 (codecov.yml:1)"}},
		{"Codecov: a smaller fall", "codecov.yml", "threshold: 5%\n", "threshold: 1%\n", nil},
		{"Codecov: it does not count", "codecov.yml", "target: 80%\n", "target: 80%\ninformational: true\n", []string{"switched on informational (codecov.yml:2)"}},
		{"CI: a failure does not count", ".github/workflows/ci.yml", "- run: make test\n", "- run: make test\n  continue-on-error: true\n", []string{"switched on continue-on-error (.github/workflows/ci.yml:2)"}},
		{"Rust: ignored somewhere", "src/lib.rs", "fn a() {}\n", "#[cfg_attr(miri, ignore)]\nfn a() {}\n", []string{"added skip #[cfg_attr(miri, ignore (src/lib.rs:1)"}},
		{"Rust: a flag", "Makefile", "\tcargo test\n", "\tcargo test -- --skip slow\n", []string{"added skip --skip (Makefile:1)"}},
		{"Rust: tarpaulin", "tarpaulin.toml", "fail-under = 80\n", "fail-under = 20\n", []string{"lowered threshold 80 → 20 (tarpaulin.toml:1)"}},
		{"Rust: tarpaulin's flag", "Makefile", "\tcargo tarpaulin --fail-under 80\n", "\tcargo tarpaulin\n", []string{"removed threshold cargo tarpaulin --fail-under 80 (Makefile:1)"}},
		{"Rust: an iterator skips", "src/lib.rs", "a.iter()\n", "a.iter().skip(1)\n", nil},
		{"JVM: JUnit", "ATest.java", "@Test\nvoid a() {}\n@Test\nvoid b() {}\n", "@Test\n@Disabled(\"later\")\nvoid a() {}\n@Test\n@DisabledOnOs(LINUX)\nvoid b() {}\n", []string{"added skip @Disabled (ATest.java:2)", "added skip @DisabledOnOs (ATest.java:5)"}},
		{"JVM: JUnit 4 and an assumption", "ATest.java", "void a() {\n", "@Ignore\nvoid a() {\nassumeTrue(false);\n", []string{"added skip @Ignore (ATest.java:1)", "added skip assumeTrue (ATest.java:3)"}},
		{"JVM: TestNG", "ATest.java", "@Test\n", "@Test(enabled = false)\n", []string{"added skip enabled = false (ATest.java:1)"}},
		{"JVM: a Kotlin test is gone", "ATest.kt", "@Test\nfun `adds two`() {}\n", "", []string{"deleted test `adds two` (ATest.kt:2)"}},
		{"JVM: JaCoCo in Maven", "pom.xml", "<haltOnFailure>true</haltOnFailure>\n<minimum>0.80</minimum>\n", "<haltOnFailure>false</haltOnFailure>\n<minimum>0.50</minimum>\n", []string{"lowered threshold 0.80 → 0.50 (pom.xml:2)", "switched off haltOnFailure (pom.xml:1)"}},
		{"JVM: JaCoCo's bound is gone", "pom.xml", "<minimum>0.80</minimum>\n", "", []string{"removed threshold <minimum>0.80</minimum> (pom.xml:1)"}},
		{"JVM: JaCoCo in Gradle", "build.gradle.kts", "minimum = \"0.8\".toBigDecimal()\n", "minimum = \"0.1\".toBigDecimal()\nisIgnoreFailures = true\n", []string{"lowered threshold 0.8 → 0.1 (build.gradle.kts:1)", "switched on isIgnoreFailures (build.gradle.kts:2)"}},
		{"JVM: Maven skips", "Makefile", "\tmvn verify\n", "\tmvn verify -DskipTests\n", []string{"switched on skipTests (Makefile:1)"}},
		{"Ruby: tests are gone", "a_spec.rb", "it 'adds', :fast do\nend\ndef test_b\nend\n", "", []string{"deleted test 'adds' (a_spec.rb:1)", "deleted test test_b (a_spec.rb:3)"}},
		{"Ruby: RSpec", "a_spec.rb", "it 'a' do\nend\nit 'b' do\nend\n", "xit 'a' do\nend\nit 'b', skip: 'later' do\nend\npending 'c'\n", []string{"added skip xit (a_spec.rb:1)", "added skip skip (a_spec.rb:3)", "added skip pending (a_spec.rb:5)"}},
		{"Ruby: minitest", "a_test.rb", "def test_a\nend\n", "def test_a\n  skip\n  skip \"later\" if ci\nend\n", []string{"added skip skip (a_test.rb:2)", "added skip skip (a_test.rb:3)"}},
		{"Ruby: SimpleCov", ".simplecov", "minimum_coverage 90\nmaximum_coverage_drop 1\n", "minimum_coverage 40\nmaximum_coverage_drop 30\n", []string{"lowered threshold 90 → 40 (.simplecov:1)", "raised limit 1 → 30 (.simplecov:2)"}},
		{"Ruby: SimpleCov's bound is gone", "spec/spec_helper.rb", "  minimum_coverage 90\n  refuse_coverage_drop\n", "", []string{"removed threshold minimum_coverage 90 (spec/spec_helper.rb:1)", "switched off refuse_coverage_drop (spec/spec_helper.rb:2)"}},
		{"Ruby: a comment is none", "a_spec.rb", "x\n", "x # we skip: 'nothing'\n# pending 'b'\n", nil},
		{"Make: a failure does not count", "Makefile", "\tgo test ./...\n", "\tgo test ./... || true\n", []string{"added skip || true (Makefile:1)"}},
		{"Go: a build constraint in a comment is none", "a_test.go", "/*\n*/\n", "/*\n//go:build never\n*/\n", nil},
		{"Go: a block that begins in a comment is none", "a_test.go", "// all of a/* counts\nfunc TestA(t *testing.T) {}\n", "// all of a/* counts\n", []string{"deleted test TestA (a_test.go:2)"}},
		{"one of two thresholds that look alike", "Makefile", "MIN = 80\nMIN = 90\n", "MIN = 85\nMIN = 50\n", []string{"lowered threshold 90 → 50 (Makefile:2)"}},
		{"a threshold with grouped digits", "a.toml", "min = 1_000\n", "min = 900\n", []string{"lowered threshold 1_000 → 900 (a.toml:1)"}},
		{"a threshold that is not Codecov's", "ci.yml", "threshold: 80\n", "threshold: 60\n", []string{"lowered threshold 80 → 60 (ci.yml:1)"}},
		{"a number that nothing is set to", "a_test.go", "covers(t, 3)\n", "", nil},
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
	if diff := cmp.Diff([]string{"a", "b", "and 3 more"}, plain.Few(notes, 2)); diff != "" {
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
