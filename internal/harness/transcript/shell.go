package transcript

import (
	"bytes"
	"fmt"
	"io"
)

// Commands are the lines of a transcript from a place on in which Claude Code called a shell, and where the next ones
// begin. Of more than size bytes only the end is read, and of a file that is shorter than the place all.
func Commands(path string, from, size int64) (text []byte, next int64, err error) {
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
			text = append(text, line...)
		}
	}
	return text, start + int64(len(whole)), nil
}
