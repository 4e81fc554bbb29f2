package transcript

import (
	"bytes"
	"encoding/json"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

// BeginsCommand reports whether the JSON text behind some bytes of a transcript is the command line that a tool was
// called with.
func BeginsCommand(before []byte) bool {
	before, isField := bytes.CutSuffix(bytes.TrimRight(before, ` "`), []byte(`":`))
	return isField && hook.NamesCommand(string(before[bytes.LastIndexByte(before, '"')+1:]))
}

// Command is what a tool was called with that runs commands. Shells have many names: Bash, PowerShell, Monitor, those of MCP
// servers, which may take the code of an interpreter.
type Command struct {
	Text   string
	IsLine bool // of a shell that we can read
}

// commandsIn are the commands in a line of a transcript, by the agent or by a subagent.
func commandsIn(line []byte) (commands []Command) {
	if !bytes.Contains(line, []byte(`"tool_use"`)) {
		return nil // decoding takes longer
	}
	var e struct {
		Message struct {
			Content []block `json:"content"`
		} `json:"message"`
	}
	_ = json.Unmarshal(line, &e) // a line of another form calls no tool
	for _, b := range e.Message.Content {
		if text := (hook.ToolUse{ToolInput: b.Input}).Commands(); b.Type == "tool_use" && text != "" {
			commands = append(commands, Command{text, b.Name == bash})
		}
	}
	return commands
}
