package transcript

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/commandline"
	"github.com/stopgate/stopgate/internal/sys/lines"
)

// bash is Claude Code's own shell.
const bash = "Bash"

// readers are Claude Code's tools that change no file of a project, start no program and give no other agent work: those of
// 2.1.325 and of older ones. A task list is the agent's notes; who takes a task from it is an agent that was started by a call.
var readers = []string{
	"AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep", "LS", "LSP", "ListAgents", "ListMcpResourcesTool",
	"NotebookRead", "Read", "ReadMcpResourceDirTool", "ReadMcpResourceTool", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskUpdate",
	"TodoWrite", "ToolSearch", "WaitForMcpServers", "WebFetch", "WebSearch",
}

// OnlyReads reports whether the agent has called no tool from a place in a transcript on but those that only read, and a shell
// for commands that do, up to the message that it has said last. Said is false if the transcript has not come to that: it lags.
func OnlyReads(path string, from int64, message string) (only, said bool, err error) {
	return without(path, from, message, callsOthers)
}

// OnlyElsewhere is the same for calls that only read or do not concern a place: concerns gets the directory where a call was
// made, which is empty where the transcript does not say.
func OnlyElsewhere(path string, from int64, message string, concerns func(cwd string, use hook.ToolUse) bool) (only, said bool, err error) {
	return without(path, from, message, func(line []byte) bool {
		cwd, calls, ok := callsIn(line)
		return !ok || slices.ContainsFunc(calls, func(use hook.ToolUse) bool { return !Reads(use) && concerns(cwd, use) })
	})
}

// without reports whether there is no such line from a place in a transcript on, up to the message that was said last.
func without(path string, from int64, message string, isSuch func(line []byte) bool) (none, said bool, err error) {
	file, err := Open(path)
	if err != nil {
		return false, false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, false, fmt.Errorf("read the transcript: %w", err)
	}
	if from > info.Size() {
		return false, true, nil // it is another one
	}

	for reader := lines.NewReader(io.NewSectionReader(file, from, info.Size()-from), MaxLine); ; {
		line, err := reader.Next()
		switch {
		case err != nil:
			return false, false, fmt.Errorf("read the transcript: %w", err)
		case line.Length == 0:
			return true, said, nil
		case !line.Whole:
			return true, false, nil
		case line.TooLong, isSuch(line.Text): // a line that is too long to read may be one
			return false, true, nil
		}
		said = says(line.Text, message) || said && !goesOn(line.Text)
	}
}

// goesOn reports whether a line shows that what was said before it were not the last words: the agent may say "Done." twice.
func goesOn(line []byte) bool {
	return bytes.Contains(line, []byte(`tool_use"`)) || bytes.Contains(line, []byte(`"type":"user"`))
}

// Reads reports whether a call only reads. A shell does for commands that look, and a cd changes no file.
func Reads(use hook.ToolUse) bool {
	return slices.Contains(readers, use.ToolName) || use.ToolName == bash && commandline.Looks(use.CommandLine(), "cd")
}
