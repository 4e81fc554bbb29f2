package journal

import (
	"bufio"
	"errors"
	"io"
)

// maxLine bounds the memory for one line. It is above maxRecord to leave room
// for a newer stopgate.
const maxLine = 16 << 20

// lineReader splits a stream into lines of any length.
type lineReader struct {
	in  *bufio.Reader
	buf []byte
}

type rawLine struct {
	text    []byte // without the newline; valid until the next call
	length  int64  // in the stream, with the newline
	ended   bool   // it has a newline
	tooLong bool   // longer than maxLine; text is its beginning
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(r, 64<<10)}
}

// next returns the next line; one of length 0 is the end.
func (l *lineReader) next() (rawLine, error) {
	var line rawLine
	l.buf = l.buf[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		line.length += int64(len(part))
		if !line.tooLong {
			l.buf = append(l.buf, part...)
			line.tooLong = len(l.buf) > maxLine
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line.text = l.buf
		if err == nil {
			line.ended = true
			line.text = l.buf[:len(l.buf)-1]
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return line, err
	}
}
