package deny

import (
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/commandline"
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
	commands, _ := commandline.Read(line)
	for _, c := range commands {
		all = append(all, forms(c.Words, c.Input, depth)...)
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
		if name := program(words[0]); commandline.IsShell(name) || name == "su" {
			return append(all, unwrapped(scriptOf(words[1:])+"\n"+input, depth+1)...)
		} else if name == "eval" {
			return append(all, unwrapped(strings.Join(words[1:], " "), depth+1)...)
		} else if name == "trap" && len(words) > 1 {
			return append(all, unwrapped(words[1], depth+1)...)
		} else if name == "find" {
			return append(all, executedBy(words, depth)...)
		}

		wrapper, wraps := commandline.StarterOf(program(words[0]))
		if !wraps {
			if len(all) == maxForms {
				all = append(all, words)
			}
			return all
		}

		rest := wrapper.Behind(words[1:])
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
	for len(words) > 0 && commandline.Assigns(words[0]) {
		words = words[1:]
	}
	return words
}

// valuedOption reports whether an option that stands before a subcommand has a value. Those that are missing here
// are taken for options without one.
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
