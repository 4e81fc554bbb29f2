package settings

import (
	"slices"
	"strings"
)

// commands are the commands that a hook runs, each as its words, without what only starts them (env, npx,
// sh -c). Clear means that all of the line could be read. It is not a shell: what a substitution, a loop or
// a here-document does is not clear.
func (e Entry) commands() (all [][]string, clear bool) {
	if len(e.Args) > 0 {
		return unwrapped(append([]string{e.Command}, e.Args...), maxDepth)
	}
	return lineCommands(e.Command, maxDepth)
}

// maxDepth is how many shells may be in each other: people use one.
const maxDepth = 4

// maxLine is far more than a person writes into a hook. To read more than that takes seconds.
const maxLine = 64 << 10

func lineCommands(line string, depth int) (all [][]string, clear bool) {
	if len(line) > maxLine {
		return nil, false
	}
	commands, clear := splitLine(line)
	for _, words := range commands {
		inner, ok := unwrapped(words, depth)
		all, clear = append(all, inner...), clear && ok
	}
	return all, clear
}

// lineReader splits a line of a shell into commands and words.
type lineReader struct {
	line     string
	at       int
	word     []byte
	inWord   bool // also of an empty one in quotes
	redirect bool // the next word is a file
	words    []string
	commands [][]string
}

// splitLine are the commands of a line as it stands there. Files of redirections are left out.
func splitLine(line string) (commands [][]string, clear bool) {
	r := &lineReader{line: line}
	clear = true
	for clear && r.at < len(r.line) {
		clear = r.next()
	}
	r.endCommand()
	return r.commands, clear
}

// next reads one sign, and reports whether it is one that can be read.
func (r *lineReader) next() bool {
	c := r.line[r.at]
	r.at++
	switch c {
	case '\'', '"':
		return r.quoted(c)
	case '\\':
		if r.at < len(r.line) && r.line[r.at] != '\n' {
			r.put(r.line[r.at : r.at+1])
		}
		r.at++
	case '$':
		return r.dollar()
	case '`':
		return false
	case ' ', '\t', '\r':
		r.endWord()
	case ';', '\n', '|', '&', '(', ')':
		r.endCommand()
	case '<', '>':
		return r.redirection(c)
	case '#':
		if r.inWord {
			r.put("#")
			return true
		}
		if end := strings.IndexByte(r.line[r.at:], '\n'); end >= 0 {
			r.at += end
		} else {
			r.at = len(r.line)
		}
	default:
		r.put(string(c))
	}
	return true
}

func (r *lineReader) put(text string) {
	r.word = append(r.word, text...)
	r.inWord = true
}

// quoted reads up to the other quote.
func (r *lineReader) quoted(quote byte) bool {
	r.inWord = true
	for r.at < len(r.line) {
		c := r.line[r.at]
		r.at++
		switch {
		case c == quote:
			return true
		case quote == '"' && c == '`', quote == '"' && c == '$' && strings.HasPrefix(r.line[r.at:], "("):
			return false
		case quote == '"' && c == '\\' && r.at < len(r.line):
			r.put(r.line[r.at : r.at+1])
			r.at++
		default:
			r.put(string(c))
		}
	}
	return false
}

// dollar reads the beginning of a variable, whose name stays in the word.
func (r *lineReader) dollar() bool {
	rest := r.line[r.at:]
	if strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "'") {
		return false
	}
	end := 0
	if strings.HasPrefix(rest, "{") {
		if end = strings.IndexByte(rest, '}') + 1; end == 0 {
			return false
		}
	}
	r.put("$" + rest[:end])
	r.at += end
	return true
}

// redirection reads the sign of one; what follows is a file or another stream.
func (r *lineReader) redirection(c byte) bool {
	if strings.HasPrefix(r.line[r.at:], "(") || c == '<' && strings.HasPrefix(r.line[r.at:], "<") {
		return false
	}
	if strings.Trim(string(r.word), "0123456789") == "" { // the number of a stream
		r.word = r.word[:0]
		r.inWord = false
	}
	r.endWord()
	r.at += len(r.line[r.at:]) - len(strings.TrimLeft(r.line[r.at:], ">&|"))
	r.redirect = true
	return true
}

func (r *lineReader) endWord() {
	if r.inWord && !r.redirect {
		r.words = append(r.words, string(r.word))
	}
	if r.inWord {
		r.redirect = false
	}
	r.word = r.word[:0]
	r.inWord = false
}

func (r *lineReader) endCommand() {
	r.endWord()
	r.redirect = false
	if len(r.words) > 0 {
		r.commands = append(r.commands, r.words)
	}
	r.words = nil
}

// Words of a shell's language that a command may follow, and those that make a line unclear.
var (
	leadingWords = []string{"if", "then", "else", "elif", "while", "until", "do", "!", "{", "}"}
	unclearWords = []string{"for", "case", "select", "function", "eval", "source", ".", "trap", "alias"}
)

// table has words by a name. A map would be made anew at each start of the program.
type table []struct {
	name  string
	words []string
}

func (t table) get(name string) (words []string, found bool) {
	for _, row := range t {
		if row.name == name {
			return row.words, true
		}
	}
	return nil, false
}

// starters start the command behind their options. The options that are named here have a value.
var starters = table{
	{"env", []string{"-u", "-C"}},
	{"exec", []string{"-a"}},
	{"command", nil},
	{"nohup", nil},
	{"time", []string{"-o", "-f"}},
	{"setsid", nil},
	{"nice", []string{"-n"}},
	{"ionice", []string{"-c", "-n"}},
	{"stdbuf", []string{"-i", "-o", "-e"}},
	{"timeout", []string{"-k", "-s"}},
	{"sudo", []string{"-u", "-g"}},
	{"doas", []string{"-u"}},
	{"npx", packageOptions},
	{"bunx", packageOptions},
	{"pnpx", []string{"--package"}},
}

var packageOptions = []string{"-p", "--package"}

// managers have commands that start a program.
var managers = table{
	{"npm", []string{"exec", "x"}},
	{"pnpm", []string{"dlx", "exec", "run"}},
	{"yarn", []string{"dlx", "exec", "run"}},
	{"bun", []string{"x", "run"}},
	{"mise", []string{"exec", "x"}},
	{"asdf", []string{"exec"}},
	{"volta", []string{"run"}},
	{"direnv", []string{"exec"}},
	{"nix", []string{"run"}},
}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh"}

// unwrapped are the commands behind what only starts them.
func unwrapped(words []string, depth int) (all [][]string, clear bool) {
	for len(words) > 0 {
		name := toolName(words[0])
		rest, starts := starters.get(name)
		_, manages := managers.get(name)
		switch {
		case slices.Contains(leadingWords, name) || assigns(words[0]):
			words = words[1:]
		case slices.Contains(unclearWords, name):
			return [][]string{words}, false
		case name == "command" && len(words) > 1 && strings.EqualFold(words[1], "-v"):
			return [][]string{words}, true
		case starts:
			words = afterOptions(words[1:], rest)
			if name == "timeout" && len(words) > 0 {
				words = words[1:] // how long
			}
		case slices.Contains(shells, name):
			return inShell(words, depth)
		case manages:
			started, starts := managed(words)
			if !starts {
				return [][]string{words}, true
			}
			words = started
		default:
			return [][]string{words}, true
		}
	}
	return nil, true
}

// assigns reports whether a word is NAME=value.
func assigns(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// afterOptions are the words behind the options. Those in valued have a value.
func afterOptions(words, valued []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		option := words[0]
		words = words[1:]
		if option == "--" {
			break
		}
		if slices.Contains(valued, option) && len(words) > 0 {
			words = words[1:]
		}
	}
	return words
}

// inShell are the commands of a line that a shell is given, or the script that it runs.
func inShell(words []string, depth int) (all [][]string, clear bool) {
	for i, word := range words[1:] {
		if !strings.HasPrefix(word, "-") {
			return [][]string{words[i+1:]}, true
		}
		if strings.HasSuffix(word, "c") && !strings.HasPrefix(word, "--") && i+2 < len(words) {
			if depth == 0 {
				return [][]string{words}, false
			}
			return lineCommands(words[i+2], depth-1)
		}
	}
	return [][]string{words}, false // it reads its commands from elsewhere
}

// managed is the command that a manager of packages or versions starts: behind one of its commands, or
// behind --.
func managed(words []string) (started []string, starts bool) {
	name := toolName(words[0])
	rest := afterOptions(words[1:], nil)
	if len(rest) == 0 {
		return nil, false
	}
	if commands, _ := managers.get(name); !slices.Contains(commands, rest[0]) {
		return rest, name == "pnpm" || name == "yarn" // they take the name of a program for a command
	}

	rest = afterOptions(rest[1:], packageOptions)
	end := slices.Index(rest, "--")
	switch {
	case name == "nix" && len(rest) > 0:
		program, output, named := strings.Cut(rest[0], "#")
		if program, _, _ = strings.Cut(program, "?"); named {
			program = output
		}
		return append([]string{program}, rest[end+1:]...), end >= 0
	case name == "mise" && end >= 0:
		return rest[end+1:], true
	case name == "direnv" && len(rest) > 0: // its directory
		return rest[1:], true
	}
	return rest, true
}
