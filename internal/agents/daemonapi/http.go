package daemonapi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

const (
	maxHead   = 64 << 10
	maxAnswer = 64 << 20
)

// answer is what the daemon answered, as far as its body.
type answer struct {
	status  int
	version string // of the daemon; "" where it does not say
	next    string // the request for the next page of a list; "" where there is none
	body    io.Reader
	length  int64 // of the body; -1 where its end shows in the body
}

// readAnswer reads an answer's head. The body is read from it, and ends with ErrCut
// when it ends too early.
func readAnswer(r *bufio.Reader) (*answer, error) {
	head := &headReader{from: r, left: maxHead}
	status, err := parseStatus(head.line())
	if head.err != nil {
		return nil, head.err
	}
	if err != nil {
		return nil, err
	}

	a := &answer{status: status, length: -1}
	chunked := false
	for line := head.line(); line != ""; line = head.line() {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%w: a header without a colon", ErrAnswer)
		}
		value = strings.Trim(value, " \t")
		switch {
		case strings.EqualFold(name, VersionHeader):
			a.version = value
		case strings.EqualFold(name, "Link"):
			a.next = nextPage(value)
		case strings.EqualFold(name, "Transfer-Encoding"):
			if !strings.EqualFold(value, "chunked") || chunked {
				return nil, fmt.Errorf("%w: transfer encoding %.40q", ErrAnswer, value)
			}
			chunked = true
		case strings.EqualFold(name, "Content-Length"):
			n, err := strconv.ParseUint(value, 10, 63)
			if err != nil || a.length >= 0 && a.length != int64(n) {
				return nil, fmt.Errorf("%w: content length %.40q", ErrAnswer, value)
			}
			a.length = int64(n)
		}
	}

	switch {
	case head.err != nil:
		return nil, head.err
	case chunked == (a.length >= 0): // neither, or both
		return nil, fmt.Errorf("%w: it has no length", ErrAnswer)
	case chunked:
		a.body = &chunks{from: r}
	default:
		a.body = &exactly{from: r, left: a.length}
	}
	return a, nil
}

// nextPage is the target of a header Link such as "</v1/runs?cursor=x>; rel=\"next\"".
func nextPage(link string) string {
	target, is := strings.CutSuffix(link, `>; rel="next"`)
	target, begins := strings.CutPrefix(target, "<")
	if !is || !begins || !strings.HasPrefix(target, "/") || strings.ContainsAny(target, " <>") {
		return ""
	}
	return target
}

// parseStatus reads a line such as "HTTP/1.1 200 OK".
func parseStatus(line string) (int, error) {
	protocol, rest, _ := strings.Cut(line, " ")
	digits, _, _ := strings.Cut(rest, " ")
	status, err := strconv.Atoi(digits)
	if !strings.HasPrefix(protocol, "HTTP/1.") || err != nil || len(digits) != 3 || status < 200 || status > 599 {
		return 0, fmt.Errorf("%w: it begins with %.40q", ErrAnswer, line)
	}
	return status, nil
}

// headReader reads the lines of a head. After an error all lines are empty.
type headReader struct {
	from *bufio.Reader
	left int
	err  error
}

func (h *headReader) line() string {
	if h.err != nil {
		return ""
	}
	text, err := readLine(h.from, h.left)
	h.left -= len(text) + 1 // each line costs something
	if err != nil {
		h.err = err
		return ""
	}
	return strings.TrimSuffix(string(text), "\r")
}

// readLine reads a line of at most limit bytes, without its end.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(text)+len(part) > limit {
			return nil, fmt.Errorf("%w: a line is too long", ErrAnswer)
		}
		text = append(text, part...)
		switch {
		case err == nil:
			return text[:len(text)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return text, cut(err)
		}
	}
}

// cut is the error of an answer that ended with err.
func cut(err error) error {
	if err == io.EOF {
		return ErrCut
	}
	return fmt.Errorf("%w: %w", ErrCut, err)
}

// exactly reads a body of known length.
type exactly struct {
	from *bufio.Reader
	left int64
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.from.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err != nil && e.left > 0 {
		return n, cut(err)
	}
	return n, nil
}

// chunks reads a body that comes in chunks, each after its length. The last has none.
type chunks struct {
	from  *bufio.Reader
	left  uint64 // of the chunk
	begun bool
	err   error
}

func (c *chunks) Read(p []byte) (int, error) {
	if c.left == 0 && c.err == nil && len(p) > 0 {
		c.err = c.next()
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.from.Read(p[:min(uint64(len(p)), c.left)])
	c.left -= uint64(n)
	if err != nil {
		c.err = cut(err)
	}
	return n, c.err
}

// next comes to the next chunk. The error is io.EOF after the last.
func (c *chunks) next() error {
	if c.begun {
		if err := c.end(); err != nil {
			return err
		}
	}
	c.begun = true
	line, err := readLine(c.from, 1024)
	if err != nil {
		return err
	}
	digits, _, _ := strings.Cut(strings.TrimSuffix(string(line), "\r"), ";")
	n, err := strconv.ParseUint(strings.Trim(digits, " \t"), 16, 64)
	if err != nil || n > math.MaxInt64 {
		return fmt.Errorf("%w: a chunk's length is %.20q", ErrAnswer, digits)
	}
	c.left = n
	if n > 0 {
		return nil
	}
	return c.trailers()
}

// end reads the end of a chunk's line.
func (c *chunks) end() error {
	line, err := readLine(c.from, 2)
	if err == nil && strings.TrimSuffix(string(line), "\r") != "" {
		err = fmt.Errorf("%w: a chunk is longer than it says", ErrAnswer)
	}
	return err
}

// trailers passes over what comes after the last chunk.
func (c *chunks) trailers() error {
	head := &headReader{from: c.from, left: maxHead}
	for head.line() != "" {
	}
	if head.err != nil {
		return head.err
	}
	return io.EOF
}
