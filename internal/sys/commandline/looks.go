package commandline

import (
	"slices"
	"strings"
)

// Looks reports whether a command line changes nothing wherever its paths lead: it has only commands that are known to
// read, and others that change nothing as the caller sees it. In doubt it does not only look; a cd stays for the next command.
func Looks(line string, others ...string) bool {
	commands, clear := Read(line)
	if !clear || len(commands) == 0 || Redirects(line) {
		return false
	}
	return !slices.ContainsFunc(commands, func(c *Command) bool { return !slices.Contains(others, c.Words[0]) && !c.Reads() })
}

// Redirects reports whether a command line sends anything into a file. In doubt it does.
func Redirects(line string) bool {
	for {
		_, target, found := strings.Cut(line, ">")
		if !found {
			return false
		}
		if !isDiscarded(target) {
			return true
		}
		line = target
	}
}

// isDiscarded reports whether what follows a > is not written to a file; >&2x is.
func isDiscarded(target string) bool {
	return slices.ContainsFunc([]string{"&1", "&2", "/dev/null", " /dev/null"}, func(name string) bool {
		rest, found := strings.CutPrefix(target, name)
		return found && (rest == "" || strings.IndexByte(" \t\n;|&)", rest[0]) >= 0)
	})
}

// harmless are commands that only read, whatever their arguments are.
var harmless = []string{
	"basename", "cat", "cmp", "cut", "diff", "dirname", "du", "echo", "egrep", "fgrep", "grep", "head", "jq", "ls", "nl", "ps",
	"pwd", "readlink", "realpath", "sleep", "stat", "tail", "tr", "true", "type", "uname", "wc", "which",
}

// Reads reports whether the command is known to read only, wherever what it prints goes.
func (c *Command) Reads() bool {
	name, args := c.Words[0], c.Words[1:]
	if slices.Contains(harmless, name) {
		return true
	}
	switch name {
	case "printf", "test", "[": // bash runs what is substituted in the index of a variable that they name
		return !anyBegins(args, "-v", "-R")
	case "file": // -C compiles
		return !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && strings.ContainsAny(arg, "cC") })
	case "date":
		return !anyBegins(args, "-s", "--s")
	case "find":
		return !anyBegins(args, "-delete", "-exec", "-fls", "-fprint", "-ok")
	case "gh":
		return len(args) > 1 && slices.Contains([]string{"issue", "pr", "release", "run"}, args[0]) &&
			slices.Contains([]string{"checks", "diff", "list", "status", "view"}, args[1])
	case "git":
		return gitReads(args)
	case "rg":
		return !anyBegins(args, "--pre", "--hostname-bin")
	case "sed": // -n 1,20p
		return len(args) > 2 && args[0] == "-n" && strings.Trim(args[1], "0123456789,$p;") == "" && !anyBegins(args[2:], "-")
	case "sort":
		return !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && strings.Contains(arg, "o") })
	case "stopgate":
		return len(args) > 0 && slices.Contains([]string{"detect", "log", "status", "validate", "why"}, args[0])
	case "tree": // -o writes, and -R does so by itself
		return !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && strings.ContainsAny(arg, "oR") })
	case "xargs": // the words that it adds may be anything
		return len(args) > 0 && slices.Contains(harmless, args[0])
	case "uniq": // its second file is written
		return !slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	}
	return false
}

// anyBegins reports whether one of the words begins with one of some texts.
func anyBegins(words []string, with ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(with, func(text string) bool { return strings.HasPrefix(word, text) })
	})
}

// gitReads reports whether git is called only to say something.
func gitReads(args []string) bool {
	for len(args) > 1 && (args[0] == "-C" || args[0] == "--no-pager") {
		if args[0] == "-C" {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 || anyBegins(args, "--output", "--op", "-O") {
		return false
	}
	if args[0] == "grep" && slices.ContainsFunc(args, func(arg string) bool { // -nOtouch
		return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "O")
	}) {
		return false
	}
	switch strings.Join(args, " ") {
	case "branch", "branch -a", "branch -r", "branch -v", "branch -vv", "branch --show-current", "remote", "remote -v", "stash list", "tag", "worktree list":
		return true
	}
	return slices.Contains([]string{
		"blame", "cat-file", "describe", "diff", "grep", "log", "ls-files", "ls-tree", "merge-base", "rev-list", "rev-parse", "shortlog", "show", "status",
	}, args[0])
}
