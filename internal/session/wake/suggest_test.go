package wake

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSuggest(t *testing.T) {
	for _, test := range []struct {
		name, message string
		want          []string
	}{
		{"nothing", "All done.", nil},
		{"empty", "", nil},
		{"the seed's commands", "Next: /clear then /gsd:plan-phase 3", []string{"/clear", "/gsd:plan-phase 3"}},
		{"each once, first seen first", "/gsd:b x\n/clear\n/gsd:b x\n/gsd:a\n`/clear`", []string{"/gsd:b x", "/clear", "/gsd:a"}},
		{"another argument is another command", "/gsd:a 1, /gsd:a 2", []string{"/gsd:a 1,", "/gsd:a 2"}},
		{"backticks", "Run `/gsd:plan-phase 3` or `/clear`.", []string{"/gsd:plan-phase 3", "/clear"}},
		{"a fence", "```\n/clear\n/gsd:execute-phase 4\n```", []string{"/clear", "/gsd:execute-phase 4"}},
		{"bold", "**/clear** and **/gsd:verify**", []string{"/clear", "/gsd:verify"}},
		{"bold argument, as the pattern has it", "**/gsd:plan-phase 4**", []string{"/gsd:plan-phase 4**"}},
		{"lists", "- /clear\n* /gsd:a\n1. /gsd:b", []string{"/clear", "/gsd:a\n1.", "/gsd:b"}},
		{"parentheses and quotes", `(/clear) "/gsd:a" '/gsd:b'`, []string{"/clear", "/gsd:a", "/gsd:b"}},
		{"a sentence ends", "Do /clear. Or /clear: now? /clear! /clear, /clear; /clear?", []string{"/clear"}},
		{"the end of the text", "/clear.", []string{"/clear"}},
		{"the next line is an argument, as the pattern has it", "/gsd:resume-work\nThen wait", []string{"/gsd:resume-work\nThen"}},
		{"a command as argument, as the pattern has it", "/gsd:a /clear", []string{"/gsd:a /clear"}},
		{"a name ends before a digit, as the pattern has it", "/gsd:phase2 x", []string{"/gsd:phase"}},
		{"an argument ends at a backtick", "/gsd:a b`c", []string{"/gsd:a b"}},
		{"a backtick is no argument", "/gsd:a `b", []string{"/gsd:a"}},
		{"space to the end is no argument", "/gsd:a \n\t ", []string{"/gsd:a"}},
		{"no name", "/gsd: x /gsd:2 /gsd:`", nil},
		{"space of JavaScript", "/gsd:a\u00a0b /gsd:c\ufeffd /gsd:e\u2028f /gsd:g\u0085h /gsd:i\u200bj", []string{"/gsd:a\u00a0b", "/gsd:c\ufeffd", "/gsd:e\u2028f", "/gsd:g", "/gsd:i"}},
		{"a URL", "https://x.io/clear https://x.io/clear/cache http://localhost/gsd:a //clear file:///clear", nil},
		{"a URL's query", "https://x.io/?p=/clear&q=/gsd:a", nil},
		{"paths", "src/clear ./clear ../clear ~/clear /tmp/clear a_/clear b-/clear C:\\/clear $HOME/clear ${x}/clear $(pwd)/clear", nil},
		{"a path that begins so", "/clear/cache /clear.sh /clear-all /clear_all /clearing /clear2 /clear:x /cleaner", nil},
		{"a path of ours", "docs/gsd:a x", nil},
		{"letters of others", "каталог/clear é/clear /clearé", nil},
		{"after a refused one", "x/gsd:a /clear", []string{"/clear"}},
		{"before a name of more", "/clear/clear", nil},
		{"damaged text", "\xff/clear \xff/gsd:a \xffb", []string{"/clear", "/gsd:a \xffb"}},
		{"punctuation of others", "先执行：/clear，再。/gsd:a", []string{"/clear", "/gsd:a"}},
		{"scripts without spaces", "请运行/clear再运行/gsd:a", []string{"/clear", "/gsd:a"}},
		{"an arrow", "→/clear ->/clear", []string{"/clear"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Suggest(test.message)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzSuggest compares it with the seed's pattern, in texts in which nothing looks like
// a path.
func FuzzSuggest(f *testing.F) {
	for _, text := range []string{"/clear", "`/gsd:a  b` /gsd:a b\n/clear", "/gsd:a\u3000\u2029x``", "(/gsd:-) /clear*", "/gsd:a/clear", "/gsd:a \ufeff/clear"} {
		f.Add(text)
	}
	const space = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	pattern := regexp.MustCompile("/(?:gsd:[a-z-]+(?:[" + space + "]+[^" + space + "`]+)?|clear)")
	f.Fuzz(func(t *testing.T, text string) {
		text = withoutPaths(text)
		var want []string
		for _, command := range pattern.FindAllString(text, -1) {
			if !slices.Contains(want, command) {
				want = append(want, command)
			}
		}
		if diff := cmp.Diff(want, Suggest(text)); diff != "" {
			t.Errorf("in %q: %s", text, diff)
		}
	})
}

// withoutPaths puts a space wherever a command would touch something else.
func withoutPaths(text string) string {
	var b strings.Builder
	for i, r := range text {
		if r == '/' {
			b.WriteByte(' ')
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		b.WriteString(text[i : i+size])
		if strings.HasSuffix(b.String(), "/clear") {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// A text that is made to be looked at again and again is looked at twice at most.
// Quadratic time would take this test hours.
func TestSuggestIsLinear(t *testing.T) {
	const size = 1 << 20
	for _, part := range []string{"/", "/clear", "/gsd:", "/gsd:a", "/gsd:a ", " /gsd:a `", " /gsd:a" + strings.Repeat(" ", 1000) + "`", "x/gsd:a b"} {
		Suggest(strings.Repeat(part, size/len(part)))
	}
	Suggest(" /gsd:a" + strings.Repeat(" ", size))
	Suggest(" /gsd:" + strings.Repeat("a", size))
}

func BenchmarkSuggest(b *testing.B) {
	message := strings.Repeat("Some words about src/clear and https://x.io/clear, then `/gsd:plan-phase 3`.\n", 1<<20/77)
	b.SetBytes(int64(len(message)))
	for b.Loop() {
		Suggest(message)
	}
}
