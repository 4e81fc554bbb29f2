package footprint

import (
	"bytes"
	"iter"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/sys/disk"
)

// IsIn reports whether the calls in a session's transcript show that it may have worked in a candidate. stands are the
// directories from which the agent works.
func (c Candidate) IsIn(text []byte, stands []string) bool {
	if c.Top == "" {
		return mentions(text, c.Name)
	}
	return Uses(text, c.Top, stands)
}

// mentions reports whether a transcript has a name as a word of its own.
func mentions(text []byte, name string) bool {
	for range words(text, name) {
		return true
	}
	return false
}

// Uses reports whether a transcript has a worktree as a place: in a path that can lead to it, as
// the directory that a command goes to, or beside a command or a tool for worktrees. Its name alone
// says nothing: people name worktrees fix, test or docs. stands are the directories from which
// the agent works.
func Uses(text []byte, top string, stands []string) bool {
	u := use{text: text, top: top, name: filepath.Base(top), above: filepath.Base(filepath.Dir(top)), stands: stands}
	for start := range words(text, u.name) {
		if isExtended(text[start+len(u.name):]) {
			continue
		}
		if u.isPath(start) || u.isGoneTo(start) || u.isMade(start) {
			return true
		}
	}
	return false
}

// words are where a text has a name as a word of its own. They are asked for many names in
// hundreds of megabytes: a regular expression took 10 s for 55 MB.
func words(text []byte, name string) iter.Seq[int] {
	return func(yield func(int) bool) {
		if name == "" {
			return
		}
		for from := 0; ; {
			i := bytes.Index(text[from:], []byte(name))
			if i < 0 {
				return
			}
			start := from + i
			if wordBegins(text[:start]) && wordEnds(text[start+len(name):]) && !yield(start) {
				return
			}
			from = start + 1
		}
	}
}

// wordBegins reports whether a word can begin after the text before it. In JSON a new line
// and a tab end with a letter.
func wordBegins(before []byte) bool {
	last := len(before) - 1
	if last < 0 || !inName(before[last]) && before[last] != '.' {
		return true
	}
	return last > 0 && before[last-1] == '\\' && bytes.IndexByte([]byte("nrt"), before[last]) >= 0
}

// wordEnds reports whether a word can end before the text after it.
func wordEnds(after []byte) bool { return len(after) == 0 || !inName(after[0]) }

// isExtended reports whether a name goes on behind a dot: fix.go is another one than fix, which may end a sentence.
func isExtended(after []byte) bool { return len(after) > 1 && after[0] == '.' && inName(after[1]) }

func inName(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// use looks for a worktree in a transcript, whose lines are JSON as a rule: texts in it have escaped
// quotes and line ends.
type use struct {
	text             []byte
	top, name, above string
	stands           []string
	looked           map[string]bool // what names in the worktree were looked for
	end              int             // of the text that was last looked at for commands
	made             bool
}

// isPath reports whether the word at start is in a path that can lead to the worktree.
func (u *use) isPath(start int) bool {
	before, after := u.text[:start], u.text[start+len(u.name):]
	for _, separator := range []string{"/", `\\`} {
		if path, found := bytes.CutSuffix(before, []byte(separator)); found {
			return u.leadsAbove(path)
		}
		if path, found := bytes.CutPrefix(after, []byte(separator)); found {
			return u.isBelow(path)
		}
	}
	return false
}

// leadsAbove reports whether a path that ends there can be the directory that the worktree is in:
// it has its name, or does not say which it is, as .. and variables. Then fix in src/fix is another one.
func (u *use) leadsAbove(path []byte) bool {
	if bytes.HasSuffix(path, []byte(u.above)) && wordBegins(path[:len(path)-len(u.above)]) {
		return true
	}
	i := bytes.LastIndexAny(path, "/\\ \t\n\"'`=:;,&|<>()[]")
	last := path[i+1:]
	if i >= 0 && path[i] == '\\' {
		last = bytes.TrimLeft(last, "nrt") // a new line, not a name
	}
	if len(last) == 0 { // /fix alone may be a route or a slash command; "$DIR"/fix and $(pwd)/fix are paths
		path = bytes.TrimRight(path, "\\\"'")
		return len(path) > 0 && (inName(path[len(path)-1]) || bytes.IndexByte([]byte(")}`*"), path[len(path)-1]) >= 0)
	}
	return slices.Contains([]string{"..", ".", "~"}, string(last)) || bytes.ContainsAny(last, "$%{}*?")
}

// maxLooked bounds how often the disk is asked about what a transcript says.
const maxLooked = 1000

// isBelow reports whether a path that begins with the worktree's name, and so from where the
// agent stands, can lead into it: fix in fix/cart may also be a folder of the project, or a branch.
func (u *use) isBelow(path []byte) bool {
	other := false
	for _, dir := range u.stands {
		place := filepath.Join(dir, u.name)
		if place == u.top {
			return true
		}
		other = other || disk.Exists(place)
	}
	if other {
		return false
	}

	if i := bytes.IndexAny(path, " \t\n\\\"'`;,:&|<>()[]{}$*"); i >= 0 {
		path = path[:i]
	}
	rest := string(bytes.TrimRight(path, "."))
	switch {
	case string(path) == ".":
		return true // all of it
	case rest == "", !filepath.IsLocal(filepath.FromSlash(rest)):
		return false // the name alone, as in fix/* and fix/$BRANCH, or a way out of it
	}

	if found, looked := u.looked[rest]; looked {
		return found
	}
	if u.looked == nil {
		u.looked = map[string]bool{}
	}
	u.looked[rest] = len(u.looked) >= maxLooked || disk.Exists(filepath.Join(u.top, filepath.FromSlash(rest)))
	return u.looked[rest]
}

// isGoneTo reports whether the word at start is a directory that a command goes to.
func (u *use) isGoneTo(start int) bool {
	before := bytes.TrimRight(u.text[:start], " \t\\\"'=")
	before = bytes.TrimRight(bytes.TrimSuffix(before, []byte(" --")), " ")
	for _, word := range []string{"cd", "pushd", "-C", "--cwd", "--directory", "--dir", "--prefix", "--work-tree"} {
		if rest, found := bytes.CutSuffix(before, []byte(word)); found && len(before) < start && wordBegins(rest) {
			return true
		}
	}
	return false
}

// isMade reports whether the word at start is in a text with a command that makes worktrees, or is
// what a tool for worktrees was called with.
func (u *use) isMade(start int) bool {
	if start < u.end {
		return u.made // the same text
	}
	from, to := quoted(u.text, start)
	before := u.text[max(0, from-beside):from]
	u.end = to
	u.made = makesWorktree(u.text[from:to], transcript.BeginsCommand(before)) ||
		to-from == len(u.name) && bytes.Contains(bytes.ToLower(before), []byte("worktree"))
	return u.made
}

// beside is within how many bytes before its input a tool is named.
const beside = 200

// quoted is where the JSON text begins and ends that has the byte at i; the line where it is in none.
func quoted(text []byte, i int) (from, to int) {
	for from = i; from > 0 && text[from-1] != '\n' && (text[from-1] != '"' || !isQuote(text, from-1)); from-- {
	}
	for to = i; to < len(text) && text[to] != '\n' && (text[to] != '"' || !isQuote(text, to)); to++ {
	}
	return from, to
}

// isQuote reports whether the quote at i is not escaped.
func isQuote(text []byte, i int) bool {
	escapes := i - len(bytes.TrimRight(text[:i], `\`))
	return escapes%2 == 0
}

// makesWorktree reports whether a text has a command that makes or moves a worktree, in a shell or as
// a list of words. A command line that speaks of worktrees may call a program that makes one.
func makesWorktree(text []byte, isCommand bool) bool {
	if !bytes.Contains(text, []byte("ree")) {
		return false // lower letters of much text take long
	}
	text = bytes.ToLower(text)
	for rest := text; ; {
		i := bytes.Index(rest, []byte("worktree"))
		if i < 0 {
			return bytes.Contains(text, []byte("--work-tree"))
		}
		if isCommand || bytes.HasSuffix(rest[:i], []byte("--")) {
			return true
		}
		rest = rest[i+len("worktree"):]
		next := bytes.TrimLeft(rest[:min(len(rest), 16)], " \t\\\"',_-")
		for _, verb := range []string{"add", "move", "repair"} {
			if after, found := bytes.CutPrefix(next, []byte(verb)); found && wordEnds(after) {
				return true
			}
		}
	}
}
