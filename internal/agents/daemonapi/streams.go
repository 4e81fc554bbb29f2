package daemonapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// maxLine is what a log's line has at most: a longer one comes in pieces.
	maxLine = 64 << 10
	// maxEvent is what an event has at most.
	maxEvent = 16 << 20
	// silence is how long a stream of events may say nothing: a living daemon lets its
	// heart be heard every 15 seconds.
	silence = time.Minute
)

// Log is the log of a pipeline or a run, line by line, without the ends of the lines. A
// line of more than 64 KiB comes in pieces. With follow the log goes on until the owner
// is at its end, the context ends or the daemon stops, none of which is an error. It
// ends after an error.
func (c *Client) Log(ctx context.Context, id string, follow bool) iter.Seq2[string, error] {
	return c.log(ctx, url.PathEscape(id)+"/log"+query("follow", flag(follow)))
}

// Tail is Log from so many lines before its end on.
func (c *Client) Tail(ctx context.Context, id string, lines int, follow bool) iter.Seq2[string, error] {
	return c.log(ctx, url.PathEscape(id)+"/log"+query("follow", flag(follow), "tail", strconv.Itoa(lines)))
}

// log reads a log; rest is the path below that of all pipelines, or all runs.
func (c *Client) log(ctx context.Context, rest string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		s, err := c.open(ctx, "GET", "/v1/pipelines/"+rest, nil)
		if Code(err) == "not_found" {
			s, err = c.open(ctx, "GET", "/v1/runs/"+rest, nil)
		}
		if err != nil {
			yieldError(ctx, err, yield)
			return
		}
		defer s.close()
		r := bufio.NewReaderSize(s.body, maxLine)
		for {
			line, err := r.ReadSlice('\n')
			if len(line) > 0 && !yield(strings.TrimSuffix(string(line), "\n"), nil) {
				return
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				yieldError(ctx, err, yield)
				return
			}
		}
	}
}

// Events are those after a position, of one owner or, with "", of all, until the
// context ends or the daemon stops, neither of which is an error. It ends after an
// error. Whoever wants to go on asks again with the last event's position.
func (c *Client) Events(ctx context.Context, owner string, after uint64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s, err := c.open(ctx, "GET", "/v1/events"+query("after", strconv.FormatUint(after, 10), "owner", owner), nil)
		if err != nil {
			yieldError(ctx, err, yield)
			return
		}
		defer s.close()
		heard := s.keepAlive(silence)
		for r := (eventReader{bufio.NewReader(s.body), heard}); ; {
			e, err := r.next()
			if err != nil {
				yieldError(ctx, err, yield)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// yieldError yields what ended a stream, unless that is as it should be.
func yieldError[T any](ctx context.Context, err error, yield func(T, error) bool) {
	if err != io.EOF && ctx.Err() == nil {
		var none T
		yield(none, err)
	}
}

// eventReader reads server-sent events, in the form in which our daemon sends them.
type eventReader struct {
	from  *bufio.Reader
	heard func() // is called for each line
}

// next is the next event; io.EOF after the last.
func (r eventReader) next() (Event, error) {
	var kind, data string
	for {
		line, err := r.line()
		if err != nil {
			return Event{}, err
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && data != "":
			return parseEvent(kind, data)
		case name == "event":
			kind = value
		case name == "data":
			data = value // ours have one line
		}
	}
}

func (r eventReader) line() (string, error) {
	if _, err := r.from.Peek(1); err != nil {
		return "", err // io.EOF: the daemon ended the stream
	}
	line, err := readLine(r.from, maxEvent)
	r.heard()
	return strings.TrimSuffix(string(line), "\r"), err
}

func parseEvent(kind, data string) (Event, error) {
	if kind == "error" {
		var f Failure
		if err := decode([]byte(data), &f); err != nil {
			return Event{}, err
		}
		return Event{}, &Error{Failure: f}
	}
	var e Event
	if err := decode([]byte(data), &e); err != nil {
		return Event{}, fmt.Errorf("an event: %w", err)
	}
	return e, nil
}
