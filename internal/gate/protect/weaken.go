package protect

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// weakened names what a change took away from a file of tests or of their settings: tests
// that are gone, skips that are new, and thresholds that went down. It reads text and knows
// no grammar, so it may overlook something; the change itself is told in any case. before is
// where the old text was, after where the new one is: a deleted file has none.
func weakened(name, before, after string) (notes []string) {
	old, now := code(name, before), code(name, after)
	where := func(number int) string { return fmt.Sprintf(" (%s:%d)", plain.Name(name), number) }
	left := map[string]int{}
	for _, t := range tests(now) {
		left[t.text]++
	}
	for _, t := range tests(old) {
		if left[t.text]--; left[t.text] < 0 {
			notes = append(notes, "deleted test "+short(t.text)+where(t.number))
		}
	}
	changes := compare(strings.Join(old, "\n"), strings.Join(now, "\n"))
	for _, e := range changes {
		notes = append(notes, skips(e, where)...)
	}
	for _, e := range changes {
		notes = append(notes, thresholds(name, e, where)...)
	}
	for _, e := range changes {
		notes = append(notes, switches(e, where)...)
	}
	return notes
}

// short is a text from a file, for one line of a message.
func short(text string) string { return plain.Clip(plain.Line(text), 60) }

// code is a text by its lines, without what is a comment: a test that is commented out does
// not run.
func code(name, text string) []string {
	lines := split(text)
	hashed := hashComments(name)
	inside := false
	for i, l := range lines {
		if hashed {
			lines[i] = withoutHash(l)
			continue
		}
		lines[i], inside = withoutBlocks(l, inside)
	}
	return lines
}

// hashComments reports whether # begins a comment in a file.
func hashComments(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".py", ".rb", ".rake", ".sh", ".yml", ".yaml", ".toml", ".cfg", ".ini", ".mk", ".pl", ".r":
		return true
	}
	base := strings.ToLower(path.Base(name))
	return strings.Contains(base, "makefile") || base == "justfile" || base == "rakefile" || base == ".coveragerc" || base == ".simplecov"
}

// withoutHash takes a comment off a line. A # in a text is none, lest a skip hide behind it.
func withoutHash(l string) string {
	for _, at := range hash.Get().FindAllStringIndex(l, -1) {
		before := l[:at[0]]
		if strings.Count(before, `"`)%2 == 0 && strings.Count(before, "'")%2 == 0 {
			return before
		}
	}
	return l
}

// withoutBlocks takes comments as C has them off a line. Directives that stand in a comment
// stay: one that is new keeps a file from being compiled.
func withoutBlocks(l string, inside bool) (string, bool) {
	if !inside && directive.Get().MatchString(l) {
		return l, false
	}

	var out strings.Builder
	for l != "" {
		if inside {
			_, rest, found := strings.Cut(l, "*/")
			if !found {
				return out.String(), true
			}
			l, inside = rest, false
			continue
		}

		block, end := strings.Index(l, "/*"), strings.Index(l, "//")
		switch {
		case end >= 0 && (block < 0 || end < block) && (end == 0 || l[end-1] != ':'): // no URL
			out.WriteString(l[:end])
			return out.String(), false
		case block >= 0 && (block == 0 || !strings.ContainsAny(l[block-1:block], "*'\"`")): // no pattern
			out.WriteString(l[:block])
			l, inside = l[block+2:], true
		default:
			out.WriteString(l)
			l = ""
		}
	}
	return out.String(), inside
}

const directiveText = `^//(go:build|\s*\+build)\b`

var (
	// hash may begin a comment.
	hash = lazyregexp.New(`^\s*#|\s#\s`)

	directive = lazyregexp.New(directiveText)

	// named are the lines that begin a test and have its name.
	named = []*lazyregexp.Regexp{
		// Go.
		lazyregexp.New(`^\s*func\s+(?:\([^)]*\)\s*)?((?:Test|Benchmark|Fuzz|Example)\w*)\s*\(`),
		// Its subtests.
		lazyregexp.New(`\b[a-z]\w*\.Run\(\s*("[^"]*"|` + "`[^`]*`" + `)\s*,`),
		// Python.
		lazyregexp.New(`^\s*(?:async\s+)?def\s+(test\w*)\s*\(`),
		// Its groups.
		lazyregexp.New(`^\s*class\s+(Test\w*)\b`),
		// JavaScript.
		lazyregexp.New(`\b(?:x|f)?(?:it|test|specify|describe|suite|context)(?:\.\w+(?:\([^)]*\))?)*\s*\(\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|` + "`[^`]*`" + `)`),
		// Ruby.
		lazyregexp.New(`^\s*(?:RSpec\.)?[xf]?(?:it|specify|example|scenario|describe|context|feature|test)\s+('[^']*'|"[^"]*").*\bdo\b`),
		// Its minitest.
		lazyregexp.New(`^\s*def\s+(test_\w+[?!]?)\s*$`),
	}

	// marked is a line that makes a test of the next function.
	marked   = lazyregexp.New(`^\s*(?:#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest|wasm_bindgen_test)\b|@(?:Test|ParameterizedTest|RepeatedTest)\b|\[(?:Test|TestMethod|Fact|Theory)\b)`)
	function = lazyregexp.New(`\b(?:fn|fun|void|Task|func)\s+(\w+|` + "`[^`]+`" + `)\s*[(<]`)
)

// tests lists the tests of a text.
func tests(lines []string) (all []line) {
	pending := false
	for i, l := range lines {
		pending = pending || marked.Get().MatchString(l)
		if found := function.Get().FindStringSubmatch(l); pending && found != nil {
			all = append(all, line{i + 1, found[1]})
			pending = false
			continue
		}
		for _, begin := range named {
			for _, found := range begin.Get().FindAllStringSubmatch(l, -1) {
				all = append(all, line{i + 1, found[1]})
			}
		}
	}
	return all
}

// skip is what keeps a test from running, or its failure from counting.
var skip = lazyregexp.New(
	// Go, with Ginkgo.
	`\b\w+\.(?:Skip|Skipf|SkipNow)\(`, `\btesting\.Short\(\)`, directiveText, `\bgo test\b.*\s-(?:short|skip)\b`,
	`\b[FPX](?:It|Specify|Describe|DescribeTable|Context|When|Entry)\(`,
	// Python.
	`pytest\.mark\.(?:skip|skipif|xfail)\b`, `\bpytest\.(?:skip|xfail|importorskip)\(`, `unittest\.(?:skip\w*|expectedFailure)\b`,
	`@skip\w*\b`, `@expectedFailure\b`, `\.skipTest\(`, `\braise\s+(?:\w+\.)?SkipTest\b`, `\b__test__\s*=\s*False\b`, `\bcollect_ignore(?:_glob)?\b`,
	`--(?:deselect|ignore|ignore-glob|no-cov)\b`, `\s-[km]\s*["']?not\b`,
	// JavaScript: Jest, Vitest, Mocha, Jasmine, node:test, Playwright.
	`\b(?:it|test|describe|context|suite|specify|bench)(?:\.\w+)*\.(?:skip|only|todo|fixme|fails?|failing|skipIf|runIf)\b`,
	`\b(?:xit|xtest|xdescribe|xcontext|xspecify|xsuite|fit|fdescribe|fcontext)\b(?:\.\w+)*\s*\(`, `\bthis\.skip\(`, `\bpending\(`,
	`\b(?:t|tc|ctx|testContext)\.(?:skip|todo)\(`,
	`\b(?:skip|only|todo|fails|pending)["']?\s*:\s*(?:true\b|["'`+"`"+`]|!|\w+\.|process\b)`,
	`\b(?:testPathIgnorePatterns|testIgnore|grepInvert)\b`, `--(?:testPathIgnorePatterns|grep-invert|test-skip-pattern)\b`,
	// Rust.
	`#!?\[(?:cfg_attr\([^\]]*)?\bignore\b`, `#!?\[cfg\((?:any\(\)|not\(test\))`, `#\[should_panic\b`, `\s--skip\b`,
	// JVM: JUnit, TestNG, Spock, Gradle, Maven.
	`@(?:Disabled|Ignore|Enabled(?:If|On|For)|PendingFeature)\w*`, `\bassume(?:True|False|That|NotNull|NoException)\(`, `\benabled\s*=\s*false\b`,
	`\bexclude(?:Tags|Categories|dGroups|TestsMatching)\b`, `\s-x\s+test\b`,
	// Ruby: RSpec, minitest.
	`^\s*(?:skip|pending)(?:\s*$|\s+["']|\s+(?:if|unless)\b)`, `^\s*[xf](?:it|specify|example|scenario|describe|context|feature)\s+["']`, `,\s*:(?:skip|pending|focus)\b`,
	// C#.
	`\bSkip\s*=\s*"`, `\bAssert\.(?:Ignore|Inconclusive)\(`,
	// Shell.
	`\|\|\s*(?:true\b|exit 0\b|:(?:\s|$))`,
)

// skips names the skips that an edit adds.
func skips(e edit, where func(int) string) (notes []string) {
	had := map[string]int{}
	for _, l := range e.removed {
		for _, found := range skip.Get().FindAllString(l.text, -1) {
			had[found]++
		}
	}
	for _, l := range e.added {
		for _, found := range skip.Get().FindAllString(l.text, -1) {
			if had[found]--; had[found] < 0 {
				notes = append(notes, "added skip "+short(strings.Trim(found, ",(:= '\"`"))+where(l.number))
			}
		}
	}
	return notes
}

var (
	number = lazyregexp.New(`\d+(?:[._]\d+)*`)
	// least are the words of lines on which a number is a lower bound, most those on which it
	// is an upper one.
	least = lazyregexp.New(`(?i)cover|thresh|fail[_-]?under|` + minWord + `|at[_-]?least|percent|\bscore\b|["']?\b(?:branches|lines|statements|functions|target)\b["']?\s*[:=]`)
	most  = lazyregexp.New(`(?i)` + maxWord + `|at[_-]?most|tolerance|allowed`)
	// slack is what Codecov calls the part by which coverage may fall.
	slack = lazyregexp.New(`\bthreshold\s*:`)
	// set is a line that gives something a number, as a setting does.
	set = lazyregexp.New(`[:=>]\s*["']?\d|--[\w-]+[= ]\d|\bm(?:in|ax)imum_\w+[ (]\s*\d`)
)

// Words, also as parts of a name: min, min_lines, minLines, lines-min, but not minutes.
const (
	minWord = `\bmin(?:imum|\b|_|-|(?-i:[A-Z]))|[_-]min\b|(?-i:[a-z]Min(?:[A-Z]|\b))`
	maxWord = `\bmax(?:imum|\b|_|-|(?-i:[A-Z]))|[_-]max\b|(?-i:[a-z]Max(?:[A-Z]|\b))`
)

// thresholds names the bounds that an edit loosens. Two lines are about the same bound if
// they differ in numbers alone.
func thresholds(name string, e edit, where func(int) string) (notes []string) {
	codecov := strings.Contains(strings.ToLower(path.Base(name)), "codecov")
	after := map[string][]line{}
	for _, l := range e.added {
		form := number.Get().ReplaceAllString(strings.TrimSpace(l.text), "0")
		after[form] = append(after[form], l)
	}

	for _, l := range e.removed {
		text := strings.TrimSpace(l.text)
		numbers := number.Get().FindAllString(text, -1)
		lower, upper := least.Get().MatchString(text), most.Get().MatchString(text)
		if codecov && slack.Get().MatchString(text) {
			lower, upper = false, true
		}
		if len(numbers) == 0 || !lower && !upper {
			continue
		}

		form := number.Get().ReplaceAllString(text, "0")
		same := after[form]
		if len(same) == 0 {
			if set.Get().MatchString(text) {
				notes = append(notes, "removed threshold "+short(text)+where(l.number))
			}
			continue
		}

		now := same[0]
		after[form] = same[1:]
		for i, is := range number.Get().FindAllString(now.text, -1) {
			was := numbers[i]
			switch {
			case lower && value(is) < value(was):
				notes = append(notes, "lowered threshold "+was+" → "+is+where(now.number))
			case upper && value(is) > value(was):
				notes = append(notes, "raised limit "+was+" → "+is+where(now.number))
			}
		}
	}
	return notes
}

// strict are the settings without which a failure does not count, lenient those with which it
// does not.
var (
	strict  = lazyregexp.New(`(?i)\b(?:check[-_]?coverage|per[-_]?file|xfail_strict|strict-markers|forbid[-_]?(?:only|pending)|haltOnFailure|failOnViolation|failIfNo(?:Specified)?Tests|fail_ci_if_error|require_ci_to_pass|refuse_coverage_drop|branch)\b`)
	lenient = lazyregexp.New(`(?i)(?:\b|-D)(?:informational|skipTests?|skipITs|maven\.test\.skip|testFailureIgnore|(?:is)?ignoreFailures|passWithNoTests|pass-with-no-tests|allowOnly|allow[-_]failure|continue-on-error|dangerouslyIgnoreUnhandledErrors)\b`)
	// given is the value behind a setting's name.
	given = lazyregexp.New(`^["']?\s*(?:=>|[:=>])\s*["']?(\w+)`)
)

// switches names the settings that an edit turns so that less counts.
func switches(e edit, where func(int) string) (notes []string) {
	for _, w := range []struct {
		names    *lazyregexp.Regexp
		from, to []line
		what     string
	}{
		{strict, e.removed, e.added, "switched off "},
		{lenient, e.added, e.removed, "switched on "},
	} {
		others := map[string]int{}
		for _, l := range w.to {
			for _, name := range switchedOn(w.names.Get(), l.text) {
				others[name]++
			}
		}
		for _, l := range w.from {
			for _, name := range switchedOn(w.names.Get(), l.text) {
				if others[name]--; others[name] < 0 {
					notes = append(notes, w.what+name+where(l.number))
				}
			}
		}
	}
	return notes
}

// switchedOn lists the settings that a line switches on: by a value, or as a flag of a command.
func switchedOn(names *regexp.Regexp, text string) (on []string) {
	for _, at := range names.FindAllStringIndex(text, -1) {
		name, before, behind := text[at[0]:at[1]], text[:at[0]], text[at[1]:]
		flag := strings.HasPrefix(name, "-D") || strings.HasSuffix(before, "--")
		value := given.Get().FindStringSubmatch(behind)
		switch {
		case value != nil && slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(value[1])),
			value == nil && flag,
			value == nil && strings.EqualFold(name, "refuse_coverage_drop"):
			on = append(on, strings.TrimPrefix(name, "-D"))
		}
	}
	return on
}

func value(text string) float64 {
	n, _ := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64) // a version is 0
	return n
}
