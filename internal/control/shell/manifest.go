package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/need"
)

// call is how a program is called that reads a project's tasks from a manifest.
type call struct {
	commands []string                     // only these read it; none: all do
	aside    []string                     // how options begin that may name another manifest, or do without one
	unless   func(operands []string) bool // they may do without one
	scripts  bool                         // run and test name a task of the manifest
}

var calls = map[string]call{
	"just":    {aside: []string{"-"}, unless: func(operands []string) bool { return strings.Contains(strings.Join(operands, ""), "/") }},
	"task":    {aside: []string{"-"}},
	"go-task": {aside: []string{"-"}},
	"npm":     {commands: []string{"run", "run-script", "test"}, aside: []string{"-"}, scripts: true},
	"pnpm":    {commands: []string{"run", "test"}, aside: []string{"-"}, scripts: true},
	"yarn":    {commands: []string{"run", "test", "lint"}, aside: []string{"-"}},
	"cargo":   {commands: strings.Fields("b bench build c check clippy d doc fmt r run t test"), aside: []string{"--manifest-path", "-C", "-Z"}},
	"go":      {commands: []string{"build", "test", "vet"}, aside: []string{"-C", "--C"}, unless: namesPackages},
	"mvn":     maven,
	"mvnw":    maven,
	"gradle":  gradle,
	"gradlew": gradle,
}

var (
	maven  = call{commands: strings.Fields("clean compile install package test validate verify"), aside: []string{"-f", "--f"}}
	gradle = call{
		aside: strings.Fields("-p --project-d -b --build-f -c --settings -v --version -h --help -?"),
		unless: func(operands []string) bool {
			return len(operands) == 0 || slices.Contains([]string{"help", "init", "wrapper"}, operands[0])
		},
	}
)

// namesPackages reports whether go is given files, or packages by their names, for which it needs
// no module.
func namesPackages(operands []string) bool {
	return len(operands) > 1 && (!strings.HasPrefix(operands[1], ".") || strings.HasSuffix(operands[1], ".go"))
}

// manifest reads the arguments of a program that reads tasks from a manifest. Where a word may
// name another one, nothing is needed.
func (r *reader) manifest(program string, args []word) {
	if program == "make" || program == "gmake" {
		r.makefile(program, args)
		return
	}
	c, found := calls[program]
	operands, clear := c.operands(args)
	switch {
	case !found, !clear, c.unless != nil && c.unless(operands):
	case len(c.commands) > 0 && (len(operands) == 0 || !slices.Contains(c.commands, operands[0])):
	case c.scripts && operands[0] == "test":
		r.reads(program, operands[:1], operands[:1])
	case c.scripts:
		operands = operands[:min(2, len(operands))]
		r.reads(program, operands, operands[1:])
	default:
		r.reads(program, operands, nil)
	}
}

// operands are the words that are no options, up to those for the task itself.
func (c call) operands(args []word) (operands []string, clear bool) {
	for _, a := range args {
		switch {
		case !a.known, slices.ContainsFunc(c.aside, func(option string) bool { return a.text != "--" && strings.HasPrefix(a.text, option) }):
			return nil, false
		case a.text == "--":
			return operands, true
		case !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+"): // cargo's toolchain
			operands = append(operands, a.text)
		}
	}
	return operands, true
}

// reads needs the manifest of a program, and tasks in it.
func (r *reader) reads(program string, operands, tasks []string) {
	m := need.Manifests()[program]
	if r.lost || r.fed || slices.ContainsFunc(m.Files, r.looksFor) {
		return
	}

	n := need.Need{Kind: need.Manifest, Text: m.Files[0], Lookup: m, Maybe: r.made || r.loose || r.branch > 0}
	words := strings.Join(append([]string{program}, operands...), " ")
	if n.Maybe {
		n.Text = words
	}
	if len(tasks) > 0 {
		n.Task = tasks[0]
	}

	if !slices.ContainsFunc(r.needs, func(other need.Need) bool { return other.Text == m.Files[0] && other.Dir == r.dir }) {
		r.add(n)
	}

	for _, task := range tasks {
		if !isName(task) {
			continue
		}
		n.Kind, n.Text, n.Task, n.Maybe = need.Task, words, task, true
		if len(tasks) > 1 {
			n.Text = program + " " + task
		}
		r.add(n)
	}
}

// looksFor reports whether the line looks for a file of that name before it uses it.
func (r *reader) looksFor(name string) bool {
	for guarded := range r.guarded {
		if path.Base(guarded) == name {
			return true
		}
	}
	return false
}

// isName reports whether a task can only be one that the manifest names, and no file.
func isName(task string) bool { return !strings.ContainsAny(task, "./%:") }

// makefile reads the arguments of make.
func (r *reader) makefile(program string, args []word) {
	defer func(before place) { r.place = before }(r.place)

	var files, targets []string
	for len(args) > 0 {
		option, value, rest := makeOption(args)
		switch {
		case option == "?":
			return
		case option == "C":
			r.move([]word{value})
		case option == "f":
			files = append(files, value.text)
		case option == "" && !strings.Contains(value.text, "="): // which sets a variable
			targets = append(targets, value.text)
		}
		args = rest
	}

	for _, file := range files {
		if !r.lost && !r.fed {
			r.file(file)
		}
	}
	if len(files) == 0 {
		r.reads(program, targets, targets)
	}
}

// makeOption takes a word of make's apart: C and f with their values, j for one that changes
// nothing here, nothing for an operand, and ? where it is not understood.
func makeOption(args []word) (option string, value word, rest []word) {
	text, rest := args[0].text, args[1:]
	name, after, joined := strings.Cut(text, "=")
	switch {
	case !args[0].known:
		return "?", word{}, nil
	case !strings.HasPrefix(text, "-"):
		return "", args[0], rest
	case name == "--directory":
		option = "C"
	case name == "--file", name == "--makefile":
		option = "f"
	case strings.HasPrefix(text, "--"):
		if slices.Contains(mildLong, name) {
			return "j", word{}, rest
		}
		return "?", word{}, nil
	default:
		after = strings.TrimLeft(text[1:], mildShort)
		if after == "" {
			return "j", word{}, rest
		}
		option, after = after[:1], after[1:]
		joined = after != ""
	}

	switch {
	case strings.Contains("jlO", option):
		if !joined && len(rest) > 0 && strings.Trim(rest[0].text, "0123456789.") == "" {
			rest = rest[1:] // how many
		}
		return "j", word{}, rest
	case option != "C" && option != "f", !joined && (len(rest) == 0 || !rest[0].known):
		return "?", word{}, nil
	case joined:
		value = word{text: after, known: true}
	default:
		value, rest = rest[0], rest[1:]
	}

	if value.text == "-" { // the standard input
		return "?", word{}, nil
	}
	return option, value, rest
}

// Options of make that change neither the makefile nor the targets.
const mildShort = "BbdeikLmnqrRsStw"

var mildLong = strings.Fields("--always-make --debug --dry-run --environment-overrides --ignore-errors --jobs --just-print --keep-going " +
	"--no-builtin-rules --no-builtin-variables --no-print-directory --output-sync --print-directory --quiet --silent --trace --warn-undefined-variables")
