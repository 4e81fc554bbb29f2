package trust

import (
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Pin makes a command that names a directory of the project, slash-separated,
// or a file in it use configDir, where that is not the project's own but the
// approved copy. Otherwise an agent could keep the approved configuration and
// empty the script that it runs. The command runs in dir; names are what else
// stands for the project's root in it.
//
// What a command reaches by other ways (a Makefile, a variable of its own) is
// not seen.
func Pin(tree, script, dir, root, configDir string, names ...string) string {
	if configDir == filepath.Join(root, filepath.FromSlash(tree)) {
		return script
	}

	roots := append(rootsIn(script, dir, root), names...)
	var out []byte
	var quote byte // the kind of quotes we are in
	for i := 0; i < len(script); i++ {
		if rest, found := strings.CutPrefix(script[i:], tree); found && endsName(rest) {
			if before := withoutRoot(string(out), roots); startsName(before, quote) {
				out = append(out[:len(before)], inQuotes(configDir, quote)...)
				i += len(tree) - 1
				continue
			}
		}

		c := script[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(script):
			out = append(out, c)
			i++
			c = script[i]
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		}
		out = append(out, c)
	}
	return string(out)
}

// rootsIn lists the ways in which a command may name the project's root. One that
// runs or goes somewhere else may come back by "..".
func rootsIn(script, dir, root string) []string {
	roots := []string{
		root, ".", "$PWD", "${PWD}", "$(pwd)", "`pwd`", "$CLAUDE_PROJECT_DIR", "${CLAUDE_PROJECT_DIR}",
		"$(git rev-parse --show-toplevel)", "`git rev-parse --show-toplevel`",
	}
	if dir != root || strings.Contains(script, "cd ") {
		roots = append([]string{".."}, roots...) // "../" ends with "./"
	}
	return roots
}

// withoutRoot takes the project's root off the end of text, however it is
// written.
func withoutRoot(text string, roots []string) string {
	for _, r := range roots {
		for _, written := range []string{r + "/", `"` + r + `"/`, "'" + r + "'/"} {
			if before, found := strings.CutSuffix(text, written); found {
				return withoutRoot(before, roots)
			}
		}
	}
	return text
}

// startsName reports whether a path that follows text begins there. Quotes
// within quotes are for another shell to read; they begin a word there.
func startsName(text string, quote byte) bool {
	others := `/~})"'`
	if quote != 0 {
		text = strings.TrimSuffix(text, string(quote))
		others = "/~})"
	}
	if text == "" {
		return true
	}
	last := text[len(text)-1]
	return !inName(last) && strings.IndexByte(others, last) < 0
}

// endsName reports whether a name that text follows is whole.
func endsName(text string) bool { return text == "" || !inName(text[0]) }

// inName reports whether a character beside a name makes it another name.
func inName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c >= utf8.RuneSelf || strings.IndexByte("_-.+@%", c) >= 0
}

// inQuotes writes a path so that the shell reads it as it is, within the given
// quotes or none. Most paths need nothing, and are then right wherever they
// stand, also where a second shell reads them.
func inQuotes(path string, quote byte) string {
	special := func(r rune) bool { return r != '/' && (r >= utf8.RuneSelf || !inName(byte(r))) }
	switch {
	case !strings.ContainsFunc(path, special):
		return path
	case quote == '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(path)
	}
	path = strings.ReplaceAll(path, "'", `'\''`)
	if quote == 0 {
		path = "'" + path + "'"
	}
	return path
}
