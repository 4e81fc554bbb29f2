package commandline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

// The commands that we find in a line are at least those that a parser of shells finds.
func TestIssue19CommandsAreThoseOfAShell(t *testing.T) {
	random := seedtest.New(t)
	valid := 0
	for range 2000 {
		line := lineOf(random, 3)
		want, ok := parsed(line)
		if !ok {
			continue
		}
		valid++
		var got []string
		commands, _ := Read(line)
		for _, c := range commands {
			got = append(got, strings.Join(c.Words, "\x00"))
		}
		for _, command := range want {
			if !slices.Contains(got, command) {
				t.Fatalf("%q is not found in\n%s\nonly %q", command, line, got)
			}
		}
	}
	if valid < 400 {
		t.Errorf("only %d lines were valid", valid)
	}
}

// parsed are the commands of a line without expansions in them.
func parsed(line string) (all []string, ok bool) {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, is := node.(*syntax.CallExpr)
		if !is || len(call.Args) == 0 || len(call.Assigns) > 0 {
			return true
		}
		var words []string
		for _, word := range call.Args {
			text, literal := literalOf(word.Parts)
			if !literal {
				return true
			}
			words = append(words, text)
		}
		all = append(all, strings.Join(words, "\x00"))
		return true
	})
	return all, true
}

func literalOf(parts []syntax.WordPart) (text string, literal bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsRune(part.Value, '\\') {
				return "", false
			}
			text += part.Value
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			text += part.Value
		case *syntax.DblQuoted:
			inner, literal := literalOf(part.Parts)
			if !literal {
				return "", false
			}
			text += inner
		default:
			return "", false
		}
	}
	return text, true
}

// lineOf is a line of some depth, most often a valid one.
func lineOf(random *rand.Rand, depth int) string {
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	inner := func() string {
		if depth == 0 {
			return one("git push", "npm 'pub lish'", `echo "a; b"`, "a#b c")
		}
		return lineOf(random, depth-1)
	}
	end := fmt.Sprint("E", depth) // a here-document ends at the first line that is its end
	var b strings.Builder
	for range 1 + random.IntN(2) {
		switch random.IntN(16) {
		case 0:
			b.WriteString("( " + inner() + " )")
		case 1:
			b.WriteString("{ " + inner() + "; }")
		case 2:
			b.WriteString("if " + inner() + "; then " + inner() + "; fi")
		case 3:
			b.WriteString("case $x in a|b) " + inner() + ";; (c) " + inner() + ";; esac")
		case 4:
			b.WriteString("echo \"it's $(" + inner() + ") ${x:-'}'}\"")
		case 5:
			b.WriteString("f() { " + inner() + "; }")
		case 6:
			b.WriteString("cat <<'" + end + "' >x\nit's ( \" `\n" + end + "\n" + inner())
		case 7:
			b.WriteString("cat <<-" + end + " | sort\n\t$(" + inner() + "\n)\n\t" + end + "\n" + inner())
		case 8:
			b.WriteString("x=$((1 << 2)) y=${z#\\'} true >&2 2>/dev/null")
		case 9:
			b.WriteString("true # it's (\n" + inner())
		case 10:
			b.WriteString("for i in a 'b c'; do " + inner() + "; done <in")
		case 11:
			b.WriteString("diff <(" + inner() + ") >(" + inner() + ")")
		case 12:
			b.WriteString("while ! " + inner() + "; do " + inner() + "; done")
		case 13:
			b.WriteString("printf $'it\\'s' \\' && " + inner())
		case 14:
			b.WriteString("x=`git push` echo \"`npm 'x'`\"")
		default:
			b.WriteString(inner())
		}
		b.WriteString(one("; ", " && ", " | ", "\n", " & ", " || "))
	}
	return b.String() + "true"
}

// Whatever the text: the reader ends, and a text without special characters is its words.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"git push", "a 'b' \"c $(d `e`)\"", "cat <<E\nx\nE\n", "case x in a) b;; esac", "${a:-$(b)}", "$'\\''", "((", "a 2>&1 <(b)", "`\\``"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, _ := Read(line)
		special := func(r rune) bool {
			return strings.ContainsRune("\\'\"`$;|&()<>#{}!=\x00\v\f\u0085\u00a0", r) || r > 0x7f
		}
		words := strings.Fields(line)
		if len(words) == 0 || strings.ContainsFunc(line, special) || strings.Contains(strings.TrimSpace(line), "\n") || reserved(words[0]) {
			return
		}
		if len(got) != 1 || !slices.Equal(got[0].Words, words) {
			t.Fatalf("%q: %+v", line, got)
		}
	})
}
