package claude

import (
	"bytes"
	"encoding/json"
)

// maxLine bounds the memory that one line takes. A longer one is passed on in
// pieces and not looked into.
const maxLine = 64 << 20

// Stream reads stream-json as the client writes it. Its functions may be nil.
type Stream struct {
	Line func(line []byte) // gets what the client printed, line by line, with its line end
	Text func(text string) // gets what the model says
	Done func()            // is called once, when the result is there

	line    []byte
	endless bool // the line is longer than we keep
	result  *Result
}

// Write never fails.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			s.keep(p)
			break
		}
		s.keep(p[:end+1])
		s.flush()
		p = p[end+1:]
	}
	return n, nil
}

// keep adds a piece to the line.
func (s *Stream) keep(piece []byte) {
	s.line = append(s.line, piece...)
	if len(s.line) > maxLine {
		s.endless = true
		s.pass()
	}
}

// flush ends the line.
func (s *Stream) flush() {
	if len(s.line) == 0 {
		return
	}
	if !s.endless {
		s.read(s.line)
	}
	s.pass()
	s.endless = false
}

// pass hands on what there is of the line.
func (s *Stream) pass() {
	if s.Line != nil {
		s.Line(s.line)
	}
	s.line = s.line[:0]
}

// Result is the result, once the client has ended. What it printed last may lack
// its line end.
func (s *Stream) Result() (Result, error) {
	s.flush()
	if s.result == nil {
		return Result{}, ErrNoResult
	}
	return *s.result, nil
}

func (s *Stream) read(line []byte) {
	if s.result != nil {
		return // what comes now was not asked for
	}
	if s.result = result(line); s.result != nil {
		if s.Done != nil {
			s.Done()
		}
		return
	}
	if s.Text == nil || !bytes.Contains(line, []byte(`"text"`)) {
		return
	}
	for _, text := range texts(line) {
		s.Text(text)
	}
}

// texts is what the model says in a message: the text blocks of an assistant's
// message, or a message that is a text.
func texts(line []byte) (all []string) {
	type block struct{ Type, Text string }
	var m struct {
		block
		Content json.RawMessage
		Message struct{ Content json.RawMessage }
	}
	if json.Unmarshal(line, &m) != nil {
		return nil
	}
	switch m.Type {
	case "text":
		text := m.Text
		_ = json.Unmarshal(m.Content, &text)
		return []string{text}
	case "assistant":
		var blocks []block
		_ = json.Unmarshal(m.Message.Content, &blocks)
		for _, b := range blocks {
			if b.Type == "text" && b.Text != "" {
				all = append(all, b.Text)
			}
		}
	}
	return all
}
