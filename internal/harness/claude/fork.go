package claude

import "strings"

// writers are the tools by which a client changes files. A reviewer has none of
// them, whatever the person's settings allow.
const writers = "Edit,NotebookEdit,Write"

// Fork is one prompt to a copy of a session. The session itself stays as it is, and
// nothing is kept of the copy.
type Fork struct {
	// Session is the session's id, or the absolute path of its transcript. By its id the
	// client finds a session only in the directory in which that was started.
	Session string
	Schema  string
	Prompt  string
	// Dir is where Claude Code runs, and Config the directory of the user's settings.
	Dir, Config string
}

// maxArgument is well below what the system takes for one argument: 128 KiB on
// Linux.
const maxArgument = 100 << 10

// Command is Claude Code's arguments and what it reads. It prints stream-json,
// which Stream reads.
func (f Fork) Command() (args []string, stdin []byte) {
	args = []string{"-p", "--fork-session"}
	if strings.HasPrefix(f.Session, "-") {
		args = append(args, "--resume="+f.Session) // an id is never a flag
	} else {
		args = append(args, "--resume", f.Session)
	}
	args = append(args,
		"--verbose",
		"--output-format", "stream-json",
		"--disallowedTools", writers) // takes every argument up to the next flag
	args = append(args, userOnly(f.Dir, f.Config)...)
	args = append(args,
		"--no-session-persistence",
		"--json-schema", withoutDialect(f.Schema))
	if !isArgument(f.Prompt) {
		return args, []byte(f.Prompt)
	}
	return append(args, f.Prompt), nil
}

// isArgument reports whether a text can be one, and is not taken for a flag. A file
// of UTF-16 is full of zero bytes.
func isArgument(text string) bool {
	return len(text) <= maxArgument && !strings.HasPrefix(text, "-") && strings.IndexByte(text, 0) < 0
}
