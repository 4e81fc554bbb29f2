// Package transcript reads Claude Code's record of a session: a file of JSON lines that
// grows while Claude Code works. It is Claude Code's own, with no promise as to its form,
// so whatever is not understood is passed over.
package transcript

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/stopgate/stopgate/internal/sys/lines"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// MaxLine is the longest line that is looked at. A prompt with a few pictures in it is
// shorter.
const MaxLine = 32 << 20

// Lines hands out lines of any number, also one at the end that is not whole. One that is
// longer than a line may be is passed over without being held.
func Lines(r io.Reader, take func(line []byte)) error {
	return each(r, func(line lines.Line) {
		if !line.TooLong {
			take(line.Text)
		}
	})
}

// each hands out every line, also what was read of one before an error.
func each(r io.Reader, take func(lines.Line)) error {
	for reader := lines.NewReader(r, MaxLine); ; {
		line, err := reader.Next()
		if line.Length > 0 {
			take(line)
		}
		if err != nil || line.Length == 0 {
			return err
		}
	}
}

// Open opens a transcript. It waits for no pipe.
func Open(path string) (*os.File, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	return file, nil
}

// Tail is the end of a transcript of at most that size, from the first whole line in it.
func Tail(path string, size int64) ([]byte, error) {
	text, start, err := regular.Tail(path, size)
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	if start > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, nil
}

// Follower reads a transcript that grows.
type Follower struct {
	Path string

	info os.FileInfo // to know another file by the same name
	from int64       // where it began to read, maybe within a line
	at   int64       // where the next line begins
}

// FollowFrom is a follower of what comes behind a place in a transcript. Of a line that the
// place is in, the rest is handed out.
func FollowFrom(path string, at int64) *Follower { return &Follower{Path: path, from: at, at: at} }

// At is where the next line begins, and the last one that was handed out has ended.
func (f *Follower) At() int64 { return f.at }

// Next hands out the whole lines that are new: Claude Code may still be writing the last
// one. A file that has become shorter, or is another one, is read from its start.
func (f *Follower) Next(take func(line []byte)) error {
	file, err := Open(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := f.next(file, take); err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	return nil
}

func (f *Follower) next(file *os.File, take func(line []byte)) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	another := f.info != nil && !os.SameFile(f.info, info)
	begins, _ := lines.EndsAt(file, f.at) // a file that was written anew has other lines
	if another || info.Size() < f.at || f.at != f.from && !begins {
		f.from, f.at = 0, 0
	}
	f.info = info
	if _, err := file.Seek(f.at, io.SeekStart); err != nil {
		return err
	}
	return each(file, func(line lines.Line) {
		if !line.Whole {
			return
		}
		f.at += line.Length
		if !line.TooLong {
			take(line.Text)
		}
	})
}
