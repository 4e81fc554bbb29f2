package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Command is a command line that a page shows.
type Command struct {
	Line  int
	Words []string
}

var (
	inlineCommand = regexp.MustCompile("`((?:stopgate|ccc|oj) [^`]+)`")
	// A line that explains a form of commands, such as "stopgate COMMAND" or "hooks install|status".
	form = regexp.MustCompile(`\b(COMMAND|NOUN|VERB)\b|\\\||…$|\.\.\.`)
)

// Commands are the command lines of these programs in a page: in blocks of commands, in blocks without a language, and
// in the text.
func (p Page) Commands(programs ...string) (commands []Command, err error) {
	add := func(line int, script string) error {
		calls, err := parse(script)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", p.Name, line, err)
		}
		for _, words := range calls {
			if slices.Contains(programs, words[0]) {
				commands = append(commands, Command{line, words})
			}
		}
		return nil
	}
	for _, b := range p.Blocks {
		switch {
		case b.IsShell():
			err = add(b.Line, b.Script())
		case b.Language == "":
			for line := range strings.Lines(b.Text) {
				if first, _, _ := strings.Cut(line, " "); err == nil && slices.Contains(programs, first) {
					err = add(b.Line, line)
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	for i, line := range p.Prose() {
		for _, match := range inlineCommand.FindAllStringSubmatch(line, -1) {
			if form.MatchString(match[1]) {
				continue
			}
			if err := add(i+1, match[1]); err != nil {
				return nil, err
			}
		}
	}
	return commands, nil
}

// parse gives the words of all calls in a script.
func parse(script string) (calls [][]string, err error) {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		var words []string
		for _, arg := range call.Args {
			word, err := expand.Literal(nil, arg)
			if err != nil {
				word = "?" // what only a shell knows
			}
			words = append(words, word)
		}
		calls = append(calls, words)
		return true
	})
	return calls, nil
}
