// Package lines splits files that grow into lines of any length, in bounded memory.
package lines

import (
	"bufio"
	"errors"
	"io"
)

// Line is a line of a stream.
type Line struct {
	Text    []byte // with its newline; valid until the next call. It is empty where it is too long.
	Length  int64  // in the stream, with the newline
	Whole   bool   // it has a newline: who writes the stream is done with it
	TooLong bool   // for the reader
}

// EndsAt reports whether a line ends at a place of a file, as it does at its beginning.
func EndsAt(file io.ReaderAt, at int64) (bool, error) {
	if at == 0 {
		return true, nil
	}
	var last [1]byte
	_, err := file.ReadAt(last[:], at-1)
	return err == nil && last[0] == '\n', err
}

// Reader reads lines.
type Reader struct {
	in   *bufio.Reader
	most int64
	text []byte
}

// NewReader reads lines of at most that many bytes. Longer ones are passed over without being held.
func NewReader(r io.Reader, most int64) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10), most: most}
}

// Next is the next line; one of length 0 is the end.
func (r *Reader) Next() (line Line, err error) {
	const usual = 1 << 20 // what a longer line took is given back
	if r.text = r.text[:0]; cap(r.text) > usual {
		r.text = nil
	}
	for {
		part, err := r.in.ReadSlice('\n')
		line.Length += int64(len(part))
		if line.TooLong = line.Length > r.most; line.TooLong {
			r.text = nil
		} else {
			r.text = append(r.text, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line.Text, line.Whole = r.text, err == nil
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return line, err
	}
}
