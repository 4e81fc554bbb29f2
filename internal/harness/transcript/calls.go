package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/lines"
)

// Calls are the calls of tools in the end of a transcript of at most that size, one a line, after the directories where they
// were made, and what those have answered that may do more than read: a worktree may be named in the answer alone, as that of
// an agent in one of its own. What a tool has only read, as from git's list of worktrees, and what people have said is not
// among them. A line that cannot be read is there as it is. Calls of subagents are in files of their own, but for
// those that older versions of Claude Code wrote here.
func Calls(ctx context.Context, path string, size int64) (text []byte, err error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	from, err := lineAt(file, max(info.Size()-size, 0))
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}

	c := collector{reads: map[string]bool{}}
	for reader := lines.NewReader(io.NewSectionReader(file, from, info.Size()-from), size); ; {
		line, err := reader.Next()
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("read the transcript: %w", err)
		case line.Length == 0:
			return c.text, nil
		}
		c.line(line.Text)
	}
}

// collector gathers calls and answers from the lines of a transcript.
type collector struct {
	text  []byte
	reads map[string]bool // whether the call with an id only reads
}

func (c *collector) line(line []byte) {
	calls := bytes.Contains(line, []byte(`tool_use"`))
	if !calls && (!bytes.Contains(line, []byte(`tool_result"`)) || c.answersReads(line)) {
		return // decoding takes longer
	}
	cwd, parts, ok := partsIn(line)
	if !ok {
		c.add(bytes.TrimSuffix(line, []byte("\n")))
		return
	}

	if cwd != "" && slices.ContainsFunc(parts, segment.isCall) {
		where, _ := json.Marshal(map[string]string{"cwd": cwd}) // a text is always JSON
		c.add(where)
	}
	for _, one := range parts {
		switch {
		case one.isCall():
			c.call(one)
		case one.isAnswer() && !c.reads[one.ToolUseID]:
			c.add(one.Content)
		}
	}
}

// answersReads reports whether a line without calls answers only such that read. They are most of a long transcript, and the
// ids are found without decoding: within a text the quotes of such a field are escaped.
func (c *collector) answersReads(line []byte) bool {
	answers := false
	for {
		_, after, found := bytes.Cut(line, []byte(`"tool_use_id":"`))
		if !found {
			return answers
		}
		id, rest, _ := bytes.Cut(after, []byte(`"`))
		if !c.reads[string(id)] {
			return false
		}
		line, answers = rest, true
	}
}

func (c *collector) call(one segment) {
	c.reads[one.ID] = Reads(one.use())
	name, _ := json.Marshal(one.Name)
	c.add([]byte(`{"name":`), name, []byte(`,"input":`), one.Input, []byte(`}`))
}

func (c *collector) add(parts ...[]byte) {
	for _, text := range parts {
		c.text = append(c.text, text...)
	}
	c.text = append(c.text, '\n')
}

// segment is a part of a message: a call of a tool, an answer to one, or something else. It is read in one go with its line, and
// what it was called with or has answered stays as it is.
type segment struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

func (s segment) isCall() bool      { return strings.HasSuffix(s.Type, "tool_use") }
func (s segment) isAnswer() bool    { return strings.HasSuffix(s.Type, "tool_result") }
func (s segment) use() hook.ToolUse { return hook.ToolUse{ToolName: s.Name, ToolInput: s.Input} }

// partsIn are the parts of the message in a line, and the directory where the agent was; empty where the line does not say. ok
// is false for a line that cannot be read: it is half written, or of a client that we do not know.
func partsIn(line []byte) (cwd string, parts []segment, ok bool) {
	var e struct {
		CWD     string `json:"cwd"`
		Message struct {
			Content []segment `json:"content"`
		} `json:"message"`
	}
	err := json.Unmarshal(line, &e)
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) && other.Field == "message.content" && other.Value == "string" {
		return "", nil, true // a text has no parts
	}
	return e.CWD, e.Message.Content, err == nil
}

// callsIn are the calls in a line, and the directory where they were made; empty where the line does not say. ok is false for
// a line that may call a tool and cannot be read.
func callsIn(line []byte) (cwd string, calls []hook.ToolUse, ok bool) {
	if !bytes.Contains(line, []byte(`tool_use"`)) {
		return "", nil, true // decoding takes longer
	}
	cwd, parts, ok := partsIn(line)
	for _, one := range parts {
		if one.isCall() {
			calls = append(calls, one.use())
		}
	}
	return cwd, calls, ok
}

// callsOthers reports whether a line calls a tool that may do more than read.
func callsOthers(line []byte) bool {
	_, calls, ok := callsIn(line)
	return !ok || slices.ContainsFunc(calls, func(use hook.ToolUse) bool { return !Reads(use) })
}
