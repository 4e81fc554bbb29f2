// Package transcript reads the client's record of a session: a file of JSON lines that
// grows while the client works. It is the client's own, with no promise as to its form,
// so whatever is not understood is passed over.
package transcript

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// MaxLine is the longest line that is looked at. A prompt with a few pictures in it is
// shorter.
const MaxLine = 32 << 20

// Lines hands out lines of any number, also one at the end that is not whole. One that is
// longer than a line may be is passed over without being held.
func Lines(r io.Reader, take func(line []byte)) error {
	return lines(r, func(line []byte, _ int64) {
		if line != nil {
			take(line)
		}
	})
}

// lines hands out lines with their lengths; nil for one that is too long.
func lines(r io.Reader, take func(line []byte, length int64)) error {
	reader := bufio.NewReaderSize(r, 64<<10)
	line, length := []byte{}, int64(0)
	for {
		piece, err := reader.ReadSlice('\n')
		if length += int64(len(piece)); length > MaxLine {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		take(line, length)
		if line, length = line[:0], 0; cap(line) > 1<<20 || line == nil {
			line = []byte{}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Open opens a transcript. What is no file is refused: opening a pipe would wait.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read the transcript: %s is not a file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	return file, nil
}

// Follower reads a transcript that grows.
type Follower struct {
	Path string

	info os.FileInfo // to know another file by the same name
	at   int64       // where the next line begins
}

// Next hands out the whole lines that are new: the client may still be writing the last
// one. A file that has become shorter, or is another one, is read from its start.
func (f *Follower) Next(take func(line []byte)) error {
	file, err := Open(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	if f.info == nil || !os.SameFile(f.info, info) || info.Size() < f.at {
		f.at = 0
	}
	f.info = info
	_, err = file.Seek(f.at, io.SeekStart)
	if err == nil {
		err = lines(file, f.whole(file, take))
	}
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	return nil
}

// whole takes lines that end, and remembers up to where they were.
func (f *Follower) whole(file *os.File, take func(line []byte)) func(line []byte, length int64) {
	end := make([]byte, 1)
	return func(line []byte, length int64) {
		if length == 0 {
			return
		}
		if _, err := file.ReadAt(end, f.at+length-1); err != nil || end[0] != '\n' {
			return // it is the last one
		}
		f.at += length
		if line != nil {
			take(line)
		}
	}
}
