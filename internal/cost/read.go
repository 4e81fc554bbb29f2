package cost

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine is longer than any line that says what something costs. A longer one is left out.
const maxLine = 32 << 20

// Read takes in a transcript from a place on, where a line begins, and returns the place up
// to which there were whole lines: the client may still be writing the last one. A file that
// has become shorter, or is another one than the last time, is read from its start.
func (m *Meter) Read(path string, from int64) (to int64, err error) {
	// Opening a named pipe would wait for a writer for ever.
	if info, err := os.Stat(path); err != nil {
		return from, err
	} else if !info.Mode().IsRegular() {
		return from, fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return from, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return from, err
	}
	before, known := m.files[path]
	if known && !os.SameFile(before, info) || !lineBegins(file, from, info.Size()) {
		from = 0
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return from, err
	}
	m.files[path] = info
	size, err := m.lines(file)
	return from + size, err
}

// lineBegins reports whether a line begins at a place of a file.
func lineBegins(file *os.File, at, size int64) bool {
	if at <= 0 || at > size {
		return at == 0
	}
	last := make([]byte, 1)
	_, err := file.ReadAt(last, at-1)
	return err == nil && last[0] == '\n'
}

// lines takes in whole lines, and returns how many bytes they have.
func (m *Meter) lines(from io.Reader) (size int64, err error) {
	r := bufio.NewReaderSize(from, 64<<10)
	var line []byte  // what was read of a line that is longer than the buffer
	var length int64 // of the line so far
	for {
		part, err := r.ReadSlice('\n')
		length += int64(len(part))
		switch {
		case err == nil && length == int64(len(part)):
			m.Line(part)
		case length <= maxLine:
			line = append(line, part...)
		default:
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return size, nil
		case err != nil:
			return size, err
		}
		if len(line) > 0 {
			m.Line(line)
		}
		size, length, line = size+length, 0, nil
	}
}
