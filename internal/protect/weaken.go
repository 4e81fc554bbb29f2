package protect

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/plain"
)

// weakened names what a change took away from a file of tests or of their settings: tests
// that are gone, skips that are new, and thresholds that went down. It reads text and knows
// no grammar, so it may overlook something; the change itself is told in any case. before is
// where the old text was, after where the new one is: a deleted file has none.
func weakened(name, before, after string) (notes []string) {
	old, now := code(name, before), code(name, after)
	where := func(number int) string { return fmt.Sprintf(" (%s:%d)", shown(name), number) }
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
		notes = append(notes, thresholds(e, where)...)
	}
	return notes
}

// short is a text from a file, for one line of a message.
func short(text string) string {
	const most = 60
	runes := []rune(plain.Line(text))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most]) + "…"
}

// code is a text by its lines, without what is a comment: a test that is commented out does
// not run.
func code(name, text string) []string {
	lines := split(text)
	hash := hashComments(name)
	inside := false
	for i, l := range lines {
		if hash {
			if strings.HasPrefix(strings.TrimSpace(l), "#") {
				lines[i] = ""
			}
			continue
		}
		lines[i], inside = withoutBlocks(l, inside)
	}
	return lines
}

// hashComments reports whether # begins a comment in a file.
func hashComments(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".py", ".rb", ".sh", ".yml", ".yaml", ".toml", ".cfg", ".ini", ".mk", ".pl", ".r":
		return true
	}
	base := strings.ToLower(path.Base(name))
	return strings.Contains(base, "makefile") || base == "justfile" || base == ".coveragerc"
}

// withoutBlocks takes comments as C has them off a line. Directives that stand in a comment
// stay: one that is new keeps a file from being compiled.
func withoutBlocks(l string, inside bool) (string, bool) {
	if !inside && directive.MatchString(l) {
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

var (
	directive = regexp.MustCompile(`^//(go:build|\s*\+build)\b`)

	// named are the lines that begin a test and have its name.
	named = []*regexp.Regexp{
		// Go.
		regexp.MustCompile(`^\s*func\s+(?:\([^)]*\)\s*)?((?:Test|Benchmark|Fuzz|Example)\w*)\s*\(`),
		// Its subtests.
		regexp.MustCompile(`\b[a-z]\w*\.Run\(\s*("[^"]*"|` + "`[^`]*`" + `)\s*,`),
		// Python.
		regexp.MustCompile(`^\s*(?:async\s+)?def\s+(test\w*)\s*\(`),
		// Its groups.
		regexp.MustCompile(`^\s*class\s+(Test\w*)\b`),
		// JavaScript.
		regexp.MustCompile(`\b(?:x|f)?(?:it|test|specify|describe|suite|context)(?:\.\w+(?:\([^)]*\))?)*\s*\(\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|` + "`[^`]*`" + `)`),
		// Ruby.
		regexp.MustCompile(`^\s*(?:it|specify|describe|context|test)\s+('[^']*'|"[^"]*")\s+do\b`),
	}
	// marked is a line that makes a test of the next function.
	marked   = regexp.MustCompile(`^\s*(?:#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest|wasm_bindgen_test)\b|@(?:Test|ParameterizedTest|RepeatedTest)\b|\[(?:Test|TestMethod|Fact|Theory)\b)`)
	function = regexp.MustCompile(`\b(?:fn|fun|void|Task|func)\s+(\w+)\s*[(<]`)
)

// tests lists the tests of a text.
func tests(lines []string) (all []line) {
	pending := false
	for i, l := range lines {
		pending = pending || marked.MatchString(l)
		if found := function.FindStringSubmatch(l); pending && found != nil {
			all = append(all, line{i + 1, found[1]})
			pending = false
			continue
		}
		for _, pattern := range named {
			for _, found := range pattern.FindAllStringSubmatch(l, -1) {
				all = append(all, line{i + 1, found[1]})
			}
		}
	}
	return all
}

// skip is what keeps a test from running, or its failure from counting.
var skip = regexp.MustCompile(strings.Join([]string{
	`\b\w+\.(?:Skip|Skipf|SkipNow)\(`,
	directive.String(),
	`pytest\.mark\.(?:skip|skipif|xfail)\b`, `\bpytest\.(?:skip|xfail|importorskip)\(`, `unittest\.(?:skip\w*|expectedFailure)\b`,
	`@skip\w*\b`, `\.skipTest\(`, `\braise\s+(?:\w+\.)?SkipTest\b`, `\b__test__\s*=\s*False\b`, `\bcollect_ignore(?:_glob)?\b`,
	`\b(?:it|test|describe|context|suite|specify)(?:\.\w+)*\.(?:skip|only|todo|fixme|failing|skipIf|runIf)\b`,
	`\b(?:xit|xtest|xdescribe|xcontext|xspecify|fit|fdescribe|fcontext)\s*\(`, `\bthis\.skip\(`, `\bpending\(`,
	`#!?\[(?:cfg_attr\([^\]]*)?\bignore\b`, `#!?\[cfg\((?:any\(\)|not\(test\))`, `#\[should_panic\b`,
	`@(?:Disabled|Ignore)\b`, `\bSkip\s*=\s*"`,
}, "|"))

// skips names the skips that an edit adds.
func skips(e edit, where func(int) string) (notes []string) {
	had := map[string]int{}
	for _, l := range e.removed {
		for _, found := range skip.FindAllString(l.text, -1) {
			had[found]++
		}
	}
	for _, l := range e.added {
		for _, found := range skip.FindAllString(l.text, -1) {
			if had[found]--; had[found] < 0 {
				notes = append(notes, "added skip "+short(strings.TrimRight(found, `( ="`))+where(l.number))
			}
		}
	}
	return notes
}

var (
	number = regexp.MustCompile(`\d+(?:[._]\d+)*`)
	// least are the words of lines on which a number is a lower bound, most those on which it
	// is an upper one.
	least = regexp.MustCompile(`(?i)cover|thresh|fail[_-]?under|` + word("min") + `|at[_-]?least|percent|\bscore\b|["']?\b(?:branches|lines|statements|functions)\b["']?\s*[:=]`)
	most  = regexp.MustCompile(`(?i)` + word("max") + `|at[_-]?most|tolerance|allowed`)
	// set is a line that gives something a number, as a setting does.
	set = regexp.MustCompile(`[:=]\s*["']?\d|--[\w-]+[= ]\d`)
)

// word matches a word, also as part of a name: min, min_lines, minLines, lines-min, but not
// minutes.
func word(w string) string {
	title := strings.ToUpper(w[:1]) + w[1:]
	return `\b` + w + `(?:imum|\b|_|-|(?-i:[A-Z]))|[_-]` + w + `\b|(?-i:[a-z]` + title + `(?:[A-Z]|\b))`
}

// thresholds names the bounds that an edit loosens. Two lines are about the same bound if
// they differ in numbers alone.
func thresholds(e edit, where func(int) string) (notes []string) {
	after := map[string][]line{}
	for _, l := range e.added {
		form := number.ReplaceAllString(strings.TrimSpace(l.text), "0")
		after[form] = append(after[form], l)
	}
	for _, l := range e.removed {
		text := strings.TrimSpace(l.text)
		numbers := number.FindAllString(text, -1)
		lower, upper := least.MatchString(text), most.MatchString(text)
		if len(numbers) == 0 || !lower && !upper {
			continue
		}
		form := number.ReplaceAllString(text, "0")
		same := after[form]
		if len(same) == 0 {
			if set.MatchString(text) {
				notes = append(notes, "removed threshold "+short(text)+where(l.number))
			}
			continue
		}
		now := same[0]
		after[form] = same[1:]
		for i, is := range number.FindAllString(now.text, -1) {
			was := numbers[i]
			switch {
			case lower && value(is) < value(was):
				notes = append(notes, "lowered threshold "+was+" → "+is+where(now.number))
			case upper && !lower && value(is) > value(was):
				notes = append(notes, "raised limit "+was+" → "+is+where(now.number))
			}
		}
	}
	return notes
}

func value(text string) float64 {
	n, _ := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64) // a version is 0
	return n
}

// capped are the first few of many notes.
func capped(notes []string, most int) []string {
	if more := len(notes) - most; more > 0 {
		return append(slices.Clip(notes[:most]), fmt.Sprintf("and %d more", more))
	}
	return notes
}
