package commandline

import (
	"slices"
	"strings"
)

// Options are those of a program whose value is the next word: one whose value can be missing has it behind a =.
type Options struct {
	Short string // letters
	Long  []string
}

// Take reports whether the value of an option is the next word.
func (o Options) Take(option string) bool {
	if strings.HasPrefix(option, "--") {
		return slices.Contains(o.Long, option)
	}
	at := strings.IndexAny(option, o.Short)
	return at > 0 && at == len(option)-1
}

// Starter is a program that starts another one, which its arguments name.
type Starter struct {
	name string
	Options
	Operands int    // before the command
	Moves    string // how an option begins by which it runs in another directory
	Finds    bool   // the command in a place of its own: it need not be on the PATH
}

// starters is not a map, which would be made anew at each start of the program, as would what refers to a variable.
var starters = []Starter{
	{name: "builtin"},
	{name: "bunx", Options: Options{"p", []string{"--package", "--cwd", "--dir", "--registry"}}, Finds: true},
	{name: "busybox", Finds: true},
	{name: "caffeinate", Options: Options{Short: "tw"}},
	{name: "chronic"},
	{name: "chroot", Operands: 1, Finds: true},
	{name: "command"},
	{name: "coproc"},
	{name: "doas", Options: Options{Short: "Cu"}},
	{name: "env", Options: Options{"uCS", []string{"--unset", "--chdir"}}, Moves: "-C"},
	{name: "exec", Options: Options{Short: "a"}},
	{name: "flock", Options: Options{"wE", []string{"--timeout", "--wait", "--conflict-exit-code"}}, Operands: 1},
	{name: "function", Operands: 1, Finds: true},
	{name: "ionice", Options: Options{"cnpPu", []string{"--class", "--classdata"}}},
	{name: "nice", Options: Options{"n", []string{"--adjustment"}}},
	{name: "nohup"},
	{name: "npx", Options: Options{"pcw", []string{"--package", "--call", "--workspace", "--prefix", "--registry"}}, Finds: true},
	{name: "parallel", Options: Options{"jPnadJIS", []string{
		"--jobs", "--max-procs", "--max-args", "--arg-file", "--delimiter", "--profile",
		"--colsep", "--delay", "--halt", "--joblog", "--load", "--results", "--retries", "--sshlogin", "--timeout", "--workdir",
	}}, Finds: true},
	{name: "pnpx", Options: Options{"C", []string{"--package", "--cwd", "--dir", "--filter", "--registry"}}, Finds: true},
	{name: "setsid"},
	{name: "stdbuf", Options: Options{"ioe", []string{"--input", "--output", "--error"}}},
	{name: "strace", Options: Options{"eopEsPu", []string{"--output", "--user"}}},
	{name: "sudo", Options: Options{"CDghpRrtTUu", []string{"--user", "--group", "--chdir", "--host", "--prompt", "--close-from", "--chroot", "--command-timeout"}}, Moves: "-D"},
	{name: "taskset", Operands: 1},
	{name: "time", Options: Options{"fo", []string{"--format", "--output"}}},
	{name: "timeout", Options: Options{"ks", []string{"--kill-after", "--signal"}}, Operands: 1},
	{name: "unbuffer"},
	{name: "watch", Options: Options{"n", []string{"--interval"}}},
	{name: "xargs", Options: Options{"adEILnPs", []string{"--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars", "--process-slot-var"}}},
	{name: "xvfb-run", Options: Options{"efnpsw", []string{"--server-num", "--server-args", "--error-file"}}},
}

// StarterOf finds the starter of a name, which has no folder before it.
func StarterOf(name string) (s Starter, found bool) {
	at := slices.IndexFunc(starters, func(s Starter) bool { return s.name == name })
	if at < 0 {
		return Starter{}, false
	}
	return starters[at], true
}

// Behind is the command behind a starter's own arguments, perhaps with assignments before it.
func (s Starter) Behind(args []string) []string {
	operands := s.Operands
	for own := true; len(args) > 0; args = args[1:] {
		switch {
		case own && args[0] == "--":
			own = false
		case own && strings.HasPrefix(args[0], "-"):
			if s.Take(args[0]) && len(args) > 1 {
				args = args[1:]
			}
		case operands > 0:
			operands--
		case !reserved(args[0]): // function f { …
			return args
		}
	}
	return nil
}

// IsShell reports whether a program, by its name without a folder, is a shell.
func IsShell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}, name)
}

// Assigns reports whether a word is NAME=value.
func Assigns(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
