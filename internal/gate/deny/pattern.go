package deny

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pattern is one of a rule's commands, as text and as words.
type pattern struct {
	text       string
	program    string
	subcommand string   // the first argument that is not an option
	letters    string   // short options, which may be written together
	options    []string // the others
	operands   []string // the arguments that are no options, in any order
	more       bool     // further words may follow
	some       bool     // and at least one has to
}

func newPattern(text string) pattern {
	text = without(strings.Join(strings.Fields(text), " "), `"'`)
	p := pattern{text: flat(text), more: strings.HasSuffix(text, "*")}
	words := strings.Fields(text)
	if len(words) == 0 {
		return p
	}

	p.program, words = words[0], words[1:]
	if n := len(words); n > 0 && words[n-1] == "*" {
		p.some, words = true, words[:n-1]
	}

	for _, word := range words {
		switch short := letters(strings.TrimSuffix(word, "*")); {
		case strings.TrimSuffix(word, "*") == "-": // standard input, which is no option
			p.operands = append(p.operands, word)
		case short != "":
			p.letters += short
		case strings.HasPrefix(word, "-"):
			p.options = append(p.options, word)
		case p.subcommand == "" && len(p.operands) == 0 && isName(word) && !unordered(p.program):
			p.subcommand = word
		default:
			p.operands = append(p.operands, word)
		}
	}
	return p
}

// flat makes a slash a letter like any other, so that * matches it.
func flat(text string) string { return strings.ReplaceAll(text, "/", "\x00") }

func matches(pattern, text string) bool {
	if !strings.ContainsAny(pattern, `*?[{\`) {
		return pattern == text // most are names
	}
	return doublestar.MatchUnvalidated(flat(pattern), flat(text))
}

// letters are those of a word that is a few short options; empty where it is another one, such as -delete of find.
func letters(word string) string {
	const most = 4
	short, found := strings.CutPrefix(word, "-")
	if !found || len(short) > most || strings.ContainsFunc(short, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }) {
		return ""
	}
	return short
}

// isName reports whether a word can be the name of a subcommand, or a pattern for some.
func isName(word string) bool {
	return !strings.HasPrefix(word, "*") && !strings.ContainsAny(word, "/.+=@~$")
}

// unordered reports whether a program has no subcommands: its arguments have no order.
func unordered(program string) bool {
	return slices.Contains([]string{"chmod", "chown", "cp", "dd", "gmake", "kill", "killall", "ln", "make", "mv", "pkill", "rm", "rmdir", "tee", "touch", "truncate", "unlink"}, program)
}

// form is one form of a command: its words, and they as texts, with the program's name alone and as it is written.
type form struct {
	words []string
	texts []string
}

func newForm(words []string) form {
	rest := ""
	if len(words) > 1 {
		rest = " " + strings.Join(words[1:], " ")
	}
	f := form{words: words, texts: []string{flat(program(words[0]) + rest)}}
	if program(words[0]) != words[0] {
		f.texts = append(f.texts, flat(words[0]+rest))
	}
	return f
}

// matches compares the pattern with a command: as text, in which * is any text, or word by word.
func (p pattern) matches(f form) bool {
	if slices.ContainsFunc(f.texts, func(text string) bool { return doublestar.MatchUnvalidated(p.text, text) }) {
		return true
	}
	name := program(f.words[0])
	if strings.Contains(p.program, "/") {
		name = f.words[0]
	}
	return p.program != "" && matches(p.program, name) && p.matchesArguments(f.words[1:])
}

// matchesArguments compares word by word. Each word of the pattern must be there, options in any place.
func (p pattern) matchesArguments(args []string) bool {
	used := make([]bool, len(args))
	use := func(fits func(i int) bool) bool {
		for i := range args {
			if !used[i] && fits(i) {
				used[i] = true
				return true
			}
		}
		return false
	}
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	option := func(i int) bool { return i <= end && strings.HasPrefix(args[i], "-") && args[i] != "-" }

	if p.subcommand != "" {
		i := subcommand(args)
		if i < 0 || !matches(p.subcommand, args[i]) {
			return false
		}
		used[i] = true
	}
	for _, word := range p.options {
		if !use(func(i int) bool { return option(i) && matches(word, args[i]) }) {
			return false
		}
	}
	missing := p.letters
	for i, arg := range args {
		if short := letters(arg); option(i) && short != "" {
			missing = without(missing, short)
			used[i] = used[i] || without(short, p.letters) == ""
		}
	}
	if missing != "" {
		return false
	}
	for _, word := range p.operands {
		if !use(func(i int) bool { return !option(i) && matches(word, args[i]) }) {
			return false
		}
	}
	left := slices.Contains(used, false)
	return left && p.more || !left && !p.some
}

// without is a text without some letters.
func without(text, letters string) string {
	if !strings.ContainsAny(text, letters) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters, r) {
			return -1
		}
		return r
	}, text)
}

// subcommand is the place of the first argument that is neither an option nor the value of one; -1: there is none.
func subcommand(args []string) int {
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "-"):
			return i
		case valuedOption(args[i]):
			i++
		}
	}
	return -1
}
