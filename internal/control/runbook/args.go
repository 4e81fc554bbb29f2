package runbook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// ArgSpec is what a command takes, such as "<name> [--base <branch>] [files...]".
type ArgSpec struct {
	Args []Arg
}

// Arg is one thing that a command takes: a positional argument, an option with a value, or
// a flag.
type Arg struct {
	Name     string
	Option   bool   // written --name
	Short    string // the letter of -f, or ""
	Value    string // what the notation calls an option's value; "" for flags
	Required bool
	Variadic bool // takes all that is left
}

// ArgSpecError is a fault in the notation.
type ArgSpecError struct {
	At      int // in bytes
	Message string
}

func (e *ArgSpecError) Error() string { return e.Message }

// parseArgSpec reads the notation:
//
//	<x>  [x]               an argument; one that may be left out
//	<x...>  [x...]         all that is left, joined by spaces
//	--flag  -f/--flag      a flag
//	--opt <v>  [--opt <v>] an option with a value; one that may be left out
//
// The error is an *ArgSpecError.
func parseArgSpec(text string) (ArgSpec, error) {
	p := argParser{text: text}
	for p.space(); p.at < len(p.text) && p.err == nil; p.space() {
		p.item()
	}
	if p.err != nil {
		return ArgSpec{}, p.err
	}
	return ArgSpec{p.args}, nil
}

type argParser struct {
	text string
	at   int
	args []Arg
	err  error
}

func (p *argParser) fail(at int, format string, args ...any) {
	if p.err == nil {
		p.err = &ArgSpecError{at, fmt.Sprintf(format, args...)}
	}
}

func (p *argParser) space() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// take goes past a word, if that is next.
func (p *argParser) take(word string) bool {
	if !strings.HasPrefix(p.text[p.at:], word) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *argParser) expect(word string) {
	if !p.take(word) {
		p.fail(p.at, "args: %q is missing", word)
	}
}

func (p *argParser) item() {
	start := p.at
	var a Arg
	switch {
	case p.take("<"):
		a = p.positional()
		a.Required = true
		p.expect(">")
	case p.take("["):
		p.space()
		if p.take("-") {
			p.at--
			a = p.option()
		} else {
			a = p.positional()
		}
		a.Required = false
		p.space()
		p.expect("]")
	case p.text[p.at] == '-':
		a = p.option()
	default:
		p.fail(p.at, "args: use <name>, [name], --flag or --option <value>")
	}

	if p.err == nil && p.at < len(p.text) && p.text[p.at] != ' ' {
		p.fail(p.at, "args: a space is missing")
	}
	p.add(a, start)
}

func (p *argParser) positional() Arg {
	a := Arg{Name: p.name()}
	a.Variadic = p.take("...")
	return a
}

func (p *argParser) name() string {
	rest := p.text[p.at:]
	name := rest[:len(rest)-len(strings.TrimLeft(rest, nameLetters))]
	if message := badName(name); message != "" {
		p.fail(p.at, "args: %s", message)
	}
	p.at += len(name)
	return name
}

// option reads --name, -n/--name, and the value that may follow.
func (p *argParser) option() Arg {
	a := Arg{Option: true}
	if !p.take("--") {
		p.expect("-")
		if p.at < len(p.text) && p.text[p.at] != '-' && strings.IndexByte(nameLetters, p.text[p.at]) >= 0 {
			a.Short = p.text[p.at : p.at+1]
			p.at++
		}
		p.expect("/--")
	}

	a.Name = p.name()
	end := p.at
	p.space()
	if p.at == end || !p.take("<") {
		p.at = end
		return a
	}

	a.Value, a.Required = p.name(), true
	p.expect(">")
	return a
}

func (p *argParser) add(a Arg, at int) {
	if p.err != nil {
		return
	}
	for _, b := range p.args {
		switch {
		case a.Name == b.Name:
			p.fail(at, "args: duplicate %q", a.Name)
		case a.Short != "" && a.Short == b.Short:
			p.fail(at, "args: duplicate -%s", a.Short)
		case a.Option || b.Option:
		case b.Variadic:
			p.fail(at, "args: nothing can follow %s, which takes all remaining arguments", b)
		case a.Required && !b.Required:
			p.fail(at, "args: %s is required, so it cannot follow %s, which is optional", a, b)
		}
	}
	p.args = append(p.args, a)
}

// String is the notation.
func (a Arg) String() string {
	text := a.Name
	if a.Variadic {
		text += "..."
	}
	if a.Option {
		text = "--" + text
		if a.Short != "" {
			text = "-" + a.Short + "/" + text
		}
		if a.Value != "" {
			text += " <" + a.Value + ">"
		}
	}

	switch {
	case a.Option && a.Required:
		return text
	case a.Required:
		return "<" + text + ">"
	}
	return "[" + text + "]"
}

// String is the notation; it is the usage that people are shown.
func (s ArgSpec) String() string {
	words := make([]string, len(s.Args))
	for i, a := range s.Args {
		words[i] = a.String()
	}
	return strings.Join(words, " ")
}

// parse reads what a person gave: the result holds that, and nothing else. It does not miss
// what has a default.
func (s ArgSpec) parse(args []string, defaults map[string]string) (map[string]string, error) {
	g := given{spec: s, values: map[string]string{}}
	if err := g.read(args); err != nil {
		return nil, err
	}
	for _, a := range s.Args {
		_, ok := g.values[a.Name]
		if _, byDefault := defaults[a.Name]; ok || byDefault || !a.Required {
			continue
		}
		if a.Option {
			return nil, fmt.Errorf("missing required option: --%s", a.Name)
		}
		return nil, fmt.Errorf("missing required argument: <%s>", a.Name)
	}
	return g.values, nil
}

// absent are the values of what may be left out and was.
func (s ArgSpec) absent() map[string]string {
	values := map[string]string{}
	for _, a := range s.Args {
		values[a.Name] = ""
		if a.Option && a.Value == "" {
			values[a.Name] = "false"
		}
	}
	return values
}

// given are arguments on their way to their names.
type given struct {
	spec   ArgSpec
	values map[string]string
	words  []string // positional
}

func (g *given) read(args []string) error {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case strings.ContainsRune(word, 0):
			return errors.New("an argument contains a NUL byte")
		case word == "--":
			g.words, args = append(g.words, args...), nil
		case len(word) > 1 && word[0] == '-':
			rest, err := g.option(word, args)
			if err != nil {
				return err
			}
			args = rest
		default:
			g.words = append(g.words, word)
		}
	}
	return g.place()
}

// option reads an option and, where it takes one, its value, and returns what is left.
func (g *given) option(word string, rest []string) ([]string, error) {
	name, value, hasValue := strings.Cut(word, "=")
	i := slices.IndexFunc(g.spec.Args, func(a Arg) bool {
		return a.Option && (name == "--"+a.Name || a.Short != "" && name == "-"+a.Short)
	})
	if i < 0 {
		return nil, g.unknown(name)
	}

	a := g.spec.Args[i]
	switch {
	case a.Value == "" && hasValue:
		return nil, fmt.Errorf("--%s takes no value", a.Name)
	case a.Value == "":
		value = "true"
	case !hasValue && len(rest) == 0:
		return nil, fmt.Errorf("--%s needs a value: <%s>", a.Name, a.Value)
	case !hasValue:
		value, rest = rest[0], rest[1:]
	}
	return rest, g.set(a.Name, "--"+a.Name, value)
}

func (g *given) set(name, shown, value string) error {
	if strings.ContainsRune(value, 0) {
		return errors.New("an argument contains a NUL byte")
	}
	if _, again := g.values[name]; again {
		return fmt.Errorf("%s is given twice", shown)
	}
	g.values[name] = value
	return nil
}

func (g *given) unknown(name string) error {
	var options []string
	for _, a := range g.spec.Args {
		if a.Option {
			options = append(options, "--"+a.Name)
		}
	}
	if meant := document.Suggest(name, options); meant != "" {
		return fmt.Errorf("unknown option: %s; did you mean %s?", name, meant)
	}
	return fmt.Errorf("unknown option: %s; put -- before an argument that starts with -", name)
}

// place gives the words without a name to the positional arguments.
func (g *given) place() error {
	words := g.words
	for _, a := range g.spec.Args {
		if a.Option || len(words) == 0 {
			continue
		}
		value := words[0]
		words = words[1:]
		if a.Variadic {
			value, words = strings.Join(append([]string{value}, words...), " "), nil
		}
		if err := g.set(a.Name, a.Name, value); err != nil {
			return err
		}
	}
	if len(words) > 0 {
		return fmt.Errorf("unexpected positional argument: %s", words[0])
	}
	return nil
}
