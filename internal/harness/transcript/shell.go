package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Commands are the command lines with which Claude Code called a shell, in a transcript from a place on, and where the
// next ones begin. Of more than size bytes only the end is read, and of a file that is shorter than the place all.
func Commands(path string, from, size int64) (lines []string, next int64, err error) {
	file, err := Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()

	info, err := file.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("read the transcript: %w", err)
	}
	if from > info.Size() {
		from = 0
	}

	start := max(info.Size()-size, from)
	all, err := io.ReadAll(io.NewSectionReader(file, start, info.Size()-start))
	if err != nil {
		return nil, 0, fmt.Errorf("read the transcript: %w", err)
	}

	whole := all[:bytes.LastIndexByte(all, '\n')+1]
	for line := range bytes.Lines(whole) {
		if bytes.Contains(line, []byte(`"type":"tool_use"`)) && bytes.Contains(line, []byte(`"name":"Bash"`)) {
			lines = append(lines, commandsIn(line)...)
		}
	}
	return lines, start + int64(len(whole)), nil
}

// commandsIn are the command lines in a line of a transcript, also those of a subagent.
func commandsIn(line []byte) (lines []string) {
	var entry struct {
		Message struct {
			Content []struct {
				Type  string `json:"type"`
				Name  string `json:"name"`
				Input struct {
					Command string `json:"command"`
				} `json:"input"`
			} `json:"content"`
		} `json:"message"`
	}
	_ = json.Unmarshal(line, &entry) // what is of another form is no command
	for _, block := range entry.Message.Content {
		if block.Type == "tool_use" && block.Name == "Bash" {
			lines = append(lines, block.Input.Command)
		}
	}
	return lines
}
