package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/stopgate/stopgate/internal/gate/need"
)

// options says which of a program's options take the next word as their value.
type options struct {
	short string
	long  []string
}

// starter is a program that starts another one, which its arguments name.
type starter struct {
	options
	operands int    // before the command
	moves    string // how an option begins by which it runs in another directory
}

var starters = map[string]starter{
	"builtin":    {},
	"caffeinate": {options: options{short: "tw"}},
	"chronic":    {},
	"command":    {},
	"doas":       {options: options{short: "Cu"}},
	"env":        {options: options{short: "uCS", long: []string{"--unset", "--chdir"}}, moves: "-C"},
	"exec":       {options: options{short: "a"}},
	"flock":      {options: options{short: "wE", long: []string{"--timeout", "--conflict-exit-code"}}, operands: 1},
	"ionice":     {options: options{short: "cn", long: []string{"--class", "--classdata"}}},
	"nice":       {options: options{short: "n", long: []string{"--adjustment"}}},
	"nohup":      {},
	"setsid":     {},
	"stdbuf":     {options: options{short: "ioe", long: []string{"--input", "--output", "--error"}}},
	"sudo":       {options: options{short: "CDghpRrtTUu", long: []string{"--user", "--group", "--chdir", "--host", "--prompt"}}, moves: "-D"},
	"taskset":    {operands: 1},
	"time":       {options: options{short: "fo", long: []string{"--format", "--output"}}},
	"timeout":    {options: options{short: "ks", long: []string{"--kill-after", "--signal"}}, operands: 1},
	"unbuffer":   {},
	"xargs":      {options: options{short: "adEILnPs", long: []string{"--arg-file", "--delimiter", "--max-args", "--max-procs", "--replace", "--max-lines"}}},
	"xvfb-run":   {options: options{short: "efnpsw", long: []string{"--server-num", "--server-args", "--error-file"}}},
}

// interpreter is a program that runs a file, unless an option names what else.
type interpreter struct {
	options
	instead []string // options with which there is no file
}

var interpreters = map[string]interpreter{
	"node":   {options{"rC", []string{"--require", "--import", "--loader", "--experimental-loader", "--conditions", "--env-file"}}, []string{"-e", "-p", "-pe", "--eval", "--print", "--test", "--run"}},
	"perl":   {options{"I", nil}, []string{"-e", "-E", "-ne", "-pe", "-S"}},
	"php":    {options{"dc", nil}, []string{"-r", "-B", "-R", "-E"}},
	"python": {options{"WX", nil}, []string{"-c", "-m"}},
	"ruby":   {options{"IrCEF", nil}, []string{"-e", "-ne", "-pe", "-S"}},
}

// runners start a program from the packages of a project: by themselves, or with one of these
// commands.
var runners = map[string][]string{
	"npx": nil, "bunx": nil, "pnpx": nil, "uvx": nil,
	"bun": {"x"}, "bundle": {"exec"}, "hatch": {"run"}, "npm": {"exec", "x"}, "pdm": {"run"}, "pipenv": {"run"}, "pipx": {"run"},
	"pnpm": {"exec", "dlx"}, "poetry": {"run"}, "rye": {"run"}, "uv": {"run"}, "yarn": {"exec", "dlx"},
}

// ofRunners are the options of runners; none of them means two things.
var ofRunners = options{"p", []string{"--package", "--with", "--python", "--extra", "--group", "--project", "--from", "--spec"}}

var shells = []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}

// start reads the arguments of a program that runs what they name.
func (r *reader) start(program string, args []word) (is bool) {
	if s, found := starters[program]; found {
		r.started(program, s, args)
		return true
	}
	if slices.Contains(shells, program) {
		r.inShell(program, args)
		return true
	}
	if commands, found := runners[program]; found {
		return r.tool(commands, args)
	}
	if program == "find" {
		r.fedBy(func() { r.exec(args) })
		return false
	}
	if i, found := interpreters[strings.TrimRight(program, "0123456789.")]; found { // python3.12
		r.interpreted(i, args)
	}
	return false
}

// started reads the command that a starter starts.
func (r *reader) started(program string, s starter, args []word) {
	command := r.behind(s, args)
	if before := r.place; s.moved(args[:len(args)-len(command)]) {
		r.lost = true
		defer func() { r.place = before }()
	}
	if program == "xargs" {
		r.fedBy(func() { r.command(command) })
		return
	}
	r.command(command)
}

// moved reports whether a starter's own words have it run a command in another directory.
func (s starter) moved(own []word) bool {
	return s.moves != "" && slices.ContainsFunc(own, func(w word) bool {
		return strings.HasPrefix(w.text, s.moves) || strings.HasPrefix(w.text, "--chdir")
	})
}

// fedBy reads commands that get words from elsewhere.
func (r *reader) fedBy(read func()) {
	before := r.fed
	r.fed = true
	read()
	r.fed = before
}

// behind is the command behind a starter's own arguments.
func (r *reader) behind(s starter, args []word) []word {
	operands := s.operands
	for own := true; len(args) > 0; {
		text := args[0].text
		switch {
		case own && text == "--":
			own = false
		case own && args[0].known && strings.HasPrefix(text, "-"):
			args = s.value(args)
		case isAssignment(text):
			r.loose = r.loose || strings.HasPrefix(text, "PATH=")
		case operands > 0:
			operands--
		default:
			return args
		}
		args = args[min(1, len(args)):]
	}
	return nil
}

func isAssignment(text string) bool {
	name, _, found := strings.Cut(text, "=")
	return found && syntax.ValidName(name)
}

// value skips an option whose value is the next word.
func (o options) value(args []word) []word {
	text := args[0].text
	takes := slices.Contains(o.long, text)
	if !strings.HasPrefix(text, "--") {
		at := strings.IndexAny(text[1:], o.short)
		takes = o.short != "" && at >= 0 && at == len(text)-2
	}
	if takes && len(args) > 1 {
		return args[1:]
	}
	return args
}

// inShell reads the arguments of a shell.
func (r *reader) inShell(shell string, args []word) {
	text, loose := false, r.loose
	defer func() { r.loose = loose }()
	own := options{"oO", []string{"--rcfile", "--init-file"}}
	for ; len(args) > 0 && args[0].known && len(args[0].text) > 1 && strings.ContainsAny(args[0].text[:1], "-+"); args = args[min(1, len(args)):] {
		option := args[0].text
		if option == "--" {
			args = args[1:]
			break
		}
		short := !strings.HasPrefix(option, "--")
		text = text || short && strings.Contains(option, "c")
		r.loose = r.loose || option == "--login" || short && strings.ContainsAny(option, "il") // its files may set the PATH
		args = own.value(args)
	}
	switch {
	case len(args) == 0, args[0].text == "-":
		r.riddle(shell + " without a file")
	case !args[0].known:
		r.riddle(args[0].source)
	case text:
		r.script(shell, args[0].text)
	default:
		r.file(args[0].text)
		r.made = true
	}
}

// interpreted reads the arguments of an interpreter up to its file.
func (r *reader) interpreted(i interpreter, args []word) {
	for ; len(args) > 0; args = args[min(1, len(args)):] {
		text := args[0].text
		switch {
		case !args[0].known:
			r.riddle(args[0].source)
			return
		case text == "-":
			return
		case slices.ContainsFunc(i.instead, func(o string) bool { return text == o || strings.HasPrefix(text, o+"=") }):
			return
		case !strings.HasPrefix(text, "-"):
			r.file(text)
			return
		}
		args = i.value(args)
	}
}

// tool reads the name of a program in the project's packages.
func (r *reader) tool(commands []string, args []word) (is bool) {
	if len(commands) > 0 {
		if len(args) == 0 || !slices.Contains(commands, args[0].text) {
			return false
		}
		args = args[1:]
	}
	args = r.behind(starter{options: ofRunners}, args)
	switch {
	case len(args) == 0:
	case !args[0].known || r.lost:
		r.riddle(args[0].source)
	default:
		name := args[0].text
		if at := strings.LastIndex(name, "@"); at > 0 {
			name = name[:at] // a version
		}
		r.add(need.Need{Kind: need.Tool, Text: name})
	}
	r.made = true
	return true
}

// exec reads the commands that find starts.
func (r *reader) exec(args []word) {
	for i, a := range args {
		if slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, a.text) {
			r.command(args[i+1:])
		}
	}
}
