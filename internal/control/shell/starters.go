package shell

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/need"
	"github.com/stopgate/stopgate/internal/sys/commandline"
)

// interpreter is a program that runs a file, unless an option names what else.
type interpreter struct {
	commandline.Options
	instead []string // options with which there is no file
}

var interpreters = map[string]interpreter{
	"node":   {commandline.Options{Short: "rC", Long: []string{"--require", "--import", "--loader", "--experimental-loader", "--conditions", "--env-file"}}, []string{"-e", "-p", "-pe", "--eval", "--print", "--test", "--run"}},
	"perl":   {commandline.Options{Short: "I"}, []string{"-e", "-E", "-ne", "-pe", "-S"}},
	"php":    {commandline.Options{Short: "dc"}, []string{"-r", "-B", "-R", "-E"}},
	"python": {commandline.Options{Short: "WX"}, []string{"-c", "-m"}},
	"ruby":   {commandline.Options{Short: "IrCEF"}, []string{"-e", "-ne", "-pe", "-S"}},
}

// runners start a program from the packages of a project: by themselves, or with one of these
// commands.
var runners = map[string][]string{
	"npx": nil, "bunx": nil, "pnpx": nil, "uvx": nil,
	"bun": {"x"}, "bundle": {"exec"}, "hatch": {"run"}, "npm": {"exec", "x"}, "pdm": {"run"}, "pipenv": {"run"}, "pipx": {"run"},
	"pnpm": {"exec", "dlx"}, "poetry": {"run"}, "rye": {"run"}, "uv": {"run"}, "yarn": {"exec", "dlx"},
}

// ofRunners are the options of runners; none of them means two things.
var ofRunners = commandline.Options{Short: "p", Long: []string{"--package", "--with", "--python", "--extra", "--group", "--project", "--from", "--spec"}}

// start reads the arguments of a program that runs what they name.
func (r *reader) start(program string, args []word) (is bool) {
	if s, found := commandline.StarterOf(program); found && !s.Finds {
		r.started(program, s, args)
		return true
	}
	if commandline.IsShell(program) {
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
func (r *reader) started(program string, s commandline.Starter, args []word) {
	command := r.behind(s, args)
	if before := r.place; moved(s, args[:len(args)-len(command)]) {
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
func moved(s commandline.Starter, own []word) bool {
	return s.Moves != "" && slices.ContainsFunc(own, func(w word) bool {
		return strings.HasPrefix(w.text, s.Moves) || strings.HasPrefix(w.text, "--chdir")
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
func (r *reader) behind(s commandline.Starter, args []word) []word {
	operands := s.Operands
	for own := true; len(args) > 0; {
		text := args[0].text
		switch {
		case own && text == "--":
			own = false
		case own && args[0].known && strings.HasPrefix(text, "-"):
			args = withoutValue(s.Options, args)
		case commandline.Assigns(text):
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

// withoutValue skips an option whose value is the next word.
func withoutValue(o commandline.Options, args []word) []word {
	if o.Take(args[0].text) && len(args) > 1 {
		return args[1:]
	}
	return args
}

// inShell reads the arguments of a shell.
func (r *reader) inShell(shell string, args []word) {
	text, loose := false, r.loose
	defer func() { r.loose = loose }()

	own := commandline.Options{Short: "oO", Long: []string{"--rcfile", "--init-file"}}
	for ; len(args) > 0 && args[0].known && len(args[0].text) > 1 && strings.ContainsAny(args[0].text[:1], "-+"); args = args[min(1, len(args)):] {
		option := args[0].text
		if option == "--" {
			args = args[1:]
			break
		}
		short := !strings.HasPrefix(option, "--")
		text = text || short && strings.Contains(option, "c")
		r.loose = r.loose || option == "--login" || short && strings.ContainsAny(option, "il") // its files may set the PATH
		args = withoutValue(own, args)
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
		args = withoutValue(i.Options, args)
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

	args = r.behind(commandline.Starter{Options: ofRunners}, args)
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
