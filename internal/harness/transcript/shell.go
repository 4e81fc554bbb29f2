package transcript

import (
	"bytes"
	"fmt"
	"io"
)

// Commands are what tools that run commands were called with, in a transcript from a place on, and where the next ones
// begin. Of more than size bytes only the end is read, and of a file that is shorter than the place all.
func Commands(path string, from, size int64) (commands []Command, next int64, err error) {
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
		commands = append(commands, commandsIn(line)...)
	}
	return commands, start + int64(len(whole)), nil
}
