package claude

import (
	"bytes"
	"encoding/json"
)

// Stream reads stream-json as Claude Code writes it, in lines of any length: whoever
// writes to it bounds them. Its functions may be nil.
type Stream struct {
	Line func(line []byte) // gets what Claude Code printed, line by line, with its line end
	Text func(text string) // gets what the model says
	Done func()            // is called once, when the result is there

	line   []byte
	result *Result
}

// Write never fails.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			s.line = append(s.line, p...)
			break
		}
		s.line = append(s.line, p[:end]...)
		s.flush()
		p = p[end:]
	}
	return n, nil
}

// flush ends the line.
func (s *Stream) flush() {
	if len(s.line) == 0 {
		return
	}
	s.read(s.line)
	if s.Line != nil {
		s.Line(s.line)
	}
	s.line = s.line[:0]
}

// Result is the result, once Claude Code has ended. What it printed last may lack
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
