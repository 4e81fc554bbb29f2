package deny

import (
	"path"
	"slices"
	"strings"
)

const (
	// maxForms is how many forms of a command are compared: each is compared whole.
	maxForms = 16
	// maxScripts is how deep commands in the arguments of commands are followed.
	maxScripts = 8
)

// unwrapped are the commands of a line as words, each also without the assignments and the wrappers before
// it, and the commands that it gives to a shell.
func unwrapped(line string, depth int) (all [][]string) {
	if depth > maxScripts {
		return nil
	}
	for _, c := range commandsIn(line) {
		all = append(all, forms(c.words, c.input, depth)...)
	}
	return all
}

// forms are a command with what stands before it, without the first part of that, and so on to the command
// alone.
func forms(words []string, input string, depth int) (all [][]string) {
	for words = withoutAssignments(words); len(words) > 0; words = withoutAssignments(words) {
		if len(all) < maxForms {
			all = append(all, words)
		}
		if name := program(words[0]); isShell(name) {
			return append(all, unwrapped(scriptOf(words[1:])+"\n"+input, depth+1)...)
		} else if name == "eval" {
			return append(all, unwrapped(strings.Join(words[1:], " "), depth+1)...)
		} else if name == "trap" && len(words) > 1 {
			return append(all, unwrapped(words[1], depth+1)...)
		} else if name == "find" {
			return append(all, executedBy(words, depth)...)
		}
		rest, wraps := withoutWrapper(words)
		if !wraps {
			if len(all) == maxForms {
				all = append(all, words)
			}
			return all
		}
		if program(words[0]) == "xargs" && len(rest) > 0 && rest[len(rest)-1] != "{}" {
			rest = append(slices.Clip(rest), "{}") // what it reads
		}
		words = rest
	}
	return all
}

// program is the name of a program without its folder.
func program(word string) string {
	return strings.TrimSuffix(path.Base(word), ".exe")
}

func isShell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ksh", "zsh", "su"}, name)
}

// scriptOf is the command line that a shell gets with -c.
func scriptOf(args []string) string {
	for i, arg := range args {
		if letters(arg) != "" && strings.HasSuffix(arg, "c") && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// executedBy are the commands that find starts.
func executedBy(words []string, depth int) (all [][]string) {
	if depth == maxScripts {
		return nil
	}
	for i := 0; i < len(words); i++ {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, words[i]) {
			continue
		}
		rest := words[i+1:]
		if end := slices.IndexFunc(rest, func(word string) bool { return word == ";" || word == "+" }); end >= 0 {
			rest = rest[:end]
		}
		all = append(all, forms(rest, "", depth+1)...)
		i += len(rest)
	}
	return all
}

// withoutAssignments drops each NAME=value before a command.
func withoutAssignments(words []string) []string {
	for len(words) > 0 && assigns(words[0]) {
		words = words[1:]
	}
	return words
}

// assigns reports whether a word is NAME=value.
func assigns(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// wrapper says how a program that runs another one is called: which of its options have a value, and how
// many words stand before the command.
func wrapper(name string) (valued string, before int, wraps bool) {
	switch name {
	case "builtin", "bunx", "busybox", "command", "coproc", "nohup", "pnpx", "setsid", "unbuffer":
		return "", 0, true
	case "caffeinate":
		return "tw", 0, true
	case "chroot", "function":
		return "", 1, true
	case "doas":
		return "uC", 0, true
	case "env":
		return "uCS", 0, true
	case "exec":
		return "a", 0, true
	case "flock":
		return "wE", 1, true
	case "ionice":
		return "cnpPu", 0, true
	case "nice", "watch":
		return "n", 0, true
	case "npx":
		return "pc", 0, true
	case "parallel":
		return "jn", 0, true
	case "stdbuf":
		return "ioe", 0, true
	case "strace":
		return "eopEsPu", 0, true
	case "sudo":
		return "ughpCDRTrtU", 0, true
	case "time":
		return "fo", 0, true
	case "timeout":
		return "sk", 1, true
	case "xargs":
		return "IndLPsaE", 0, true
	}
	return "", 0, false
}

// withoutWrapper drops the first word and what belongs to it, where it is one that a command can follow.
func withoutWrapper(words []string) (rest []string, wraps bool) {
	valued, before, wraps := wrapper(program(words[0]))
	if !wraps {
		return nil, false
	}
	rest = words[1:]
	for len(rest) > 0 {
		word := rest[0]
		switch {
		case strings.HasPrefix(word, "-"):
			rest = rest[1:]
			if hasValue(word, valued) && len(rest) > 0 {
				rest = rest[1:]
			}
		case before > 0:
			rest = rest[1:]
			before--
		case reserved(word): // function f { …
			rest = rest[1:]
		default:
			return rest, true
		}
	}
	return nil, true
}

// hasValue reports whether the value of an option is the next word.
func hasValue(option, valued string) bool {
	if strings.HasPrefix(option, "--") {
		return valuedOption(option)
	}
	i := strings.IndexAny(option, valued)
	return i > 0 && i == len(option)-1
}

// valuedOption reports whether an option that stands before a subcommand, or a long one of a wrapper, has a
// value. Those that are missing here are taken for options without one.
func valuedOption(option string) bool {
	switch option {
	case "-C", "-c", "-F", "-H", "-n", "-R", "-w",
		"--config", "--context", "--cwd", "--dir", "--filter", "--git-dir", "--host", "--kubeconfig", "--namespace",
		"--prefix", "--profile", "--project", "--region", "--registry", "--repo", "--work-tree", "--workspace",
		"--adjustment", "--arg-file", "--chdir", "--class", "--classdata", "--delimiter", "--group", "--interval",
		"--kill-after", "--max-args", "--max-lines", "--max-procs", "--output", "--package", "--signal", "--unset", "--user":
		return true
	}
	return false
}
