package supervisor

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

const (
	// maxAsked is what is kept of one request, in characters.
	maxAsked = 4000
	// maxLine is the longest line that is looked at. A prompt with a few pictures in
	// it is shorter.
	maxLine = 32 << 20
)

// Asked are the requests that people made in a session, from its transcript: the
// first one and the newest, at most so many. A file that is not there has none.
func Asked(path string, most int) ([]string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || path == "" || most <= 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read the transcript: %s is not a file", path) // and opening a pipe would wait
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	defer file.Close()
	asked := requests{most: most}
	if err := eachLine(file, asked.line); err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	asked.settle()
	return asked.kept, nil
}

// eachLine hands out lines of any number. One that is longer than a line may be is
// passed over without being held.
func eachLine(r io.Reader, take func(line []byte)) error {
	reader := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for long := false; ; {
		piece, err := reader.ReadSlice('\n')
		if long = long || len(line)+len(piece) > maxLine; !long {
			line = append(line, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if !long {
			take(line)
		}
		if line, long = line[:0], false; cap(line) > 1<<20 {
			line = nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// requests are those of a transcript as it is read.
type requests struct {
	most int
	kept []string // the first one, and the newest
	// command is a slash command of which it is not known yet whether the client
	// itself answers it, as it does /model and /compact. That one asks the agent for
	// nothing.
	command string
}

// entry is a line of a transcript.
type entry struct {
	Type             string  `json:"type"`
	IsMeta           bool    `json:"isMeta"`
	IsSidechain      bool    `json:"isSidechain"`
	IsCompactSummary bool    `json:"isCompactSummary"`
	Origin           origin  `json:"origin"`
	Message          message `json:"message"`
	// Attachment is among others a prompt that was typed while the agent was at
	// work, and slipped into its turn.
	Attachment struct {
		Type   string          `json:"type"`
		Prompt json.RawMessage `json:"prompt"`
		Origin origin          `json:"origin"`
	} `json:"attachment"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// origin is who a prompt is from, where the client says so.
type origin struct {
	Kind string `json:"kind"`
}

func (o origin) isClient() bool {
	return o.Kind == "task-notification" || o.Kind == "auto-continuation"
}

func (r *requests) line(line []byte) {
	if !bytes.Contains(line, []byte(`"user"`)) && !bytes.Contains(line, []byte(`"queued_command"`)) {
		return // most lines are none, and some are long
	}
	if bytes.Contains(line, []byte(`"type":"tool_result"`)) {
		return // what a tool has said, as most of the rest is; decoding it takes ten times as long
	}
	var e entry
	if json.Unmarshal(line, &e) != nil {
		return // half written, or of a client that we do not know
	}
	content := e.Message.Content
	if e.Type == "attachment" && e.Attachment.Type == "queued_command" {
		content, e.Origin = e.Attachment.Prompt, e.Attachment.Origin
	} else if e.Type != "user" || e.Message.Role != "user" {
		return
	}
	if e.IsMeta || e.IsSidechain || e.IsCompactSummary || e.Origin.isClient() {
		return
	}
	r.text(promptText(content))
}

// text takes what a user message says.
func (r *requests) text(text string) {
	if strings.HasPrefix(text, "<local-command-") {
		r.command = "" // the client has answered it
		return
	}
	r.settle()
	if command, ok := slashCommand(text); ok {
		r.command = command
	} else if text != "" && !isNotice(text) {
		r.keep(text)
	}
}

// settle takes a slash command for a request: the client did not answer it.
func (r *requests) settle() {
	if r.command != "" {
		r.keep(r.command)
		r.command = ""
	}
}

func (r *requests) keep(text string) {
	text = strings.Clone(shorten(text, maxAsked, len(text)))
	if len(r.kept) < r.most {
		r.kept = append(r.kept, text)
		return
	}
	oldest := min(1, r.most-1) // of the newest, behind the first one
	copy(r.kept[oldest:], r.kept[oldest+1:])
	r.kept[r.most-1] = text
}

// promptText is the text of a message's content: a string, or blocks. What holds a
// tool's result is none of a person's.
func promptText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return strings.TrimSpace(text)
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var texts []string
	for _, block := range blocks {
		if block.Type == "tool_result" {
			return ""
		}
		if part := strings.TrimSpace(block.Text); block.Type == "text" && part != "" && !strings.HasPrefix(part, "<system-reminder>") {
			texts = append(texts, part)
		}
	}
	return strings.Join(texts, "\n\n")
}

// isNotice reports whether a text is one that the client writes in the user's
// place.
func isNotice(text string) bool {
	for _, beginning := range []string{
		"Stop hook feedback:", "<task-notification>", "<system-reminder>", "<bash-", "[Request interrupted by user", "[structured-output-enforce]",
	} {
		if strings.HasPrefix(text, beginning) {
			return true
		}
	}
	return false
}

// slashCommand reads a command as it was typed from what the client makes of it.
func slashCommand(text string) (command string, ok bool) {
	if !strings.HasPrefix(text, "<command-") {
		return "", false
	}
	_, rest, _ := strings.Cut(text, "<command-name>")
	name, rest, ok := strings.Cut(rest, "</command-name>")
	name = strings.TrimPrefix(strings.TrimSpace(name), "/")
	if !ok || name == "" {
		return "", false
	}
	_, args, _ := strings.Cut(rest, "<command-args>")
	if end := strings.LastIndex(args, "</command-args>"); end >= 0 { // they may be about such an element
		args = args[:end]
	}
	return strings.TrimSpace("/" + name + " " + strings.TrimSpace(args)), true
}
