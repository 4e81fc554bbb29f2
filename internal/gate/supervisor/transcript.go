package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/transcript"
)

// maxAsked is what is kept of one request, in characters.
const maxAsked = 4000

// Asked are the requests that people made in a session, from its transcript: the
// first one and the newest, at most so many. A file that is not there has none.
func Asked(path string, most int) ([]string, error) {
	if path == "" || most <= 0 {
		return nil, nil
	}
	file, err := transcript.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	asked := requests{most: most}
	if err := transcript.Lines(file, asked.line); err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	asked.settle()
	return asked.kept, nil
}

// requests are those of a transcript as it is read.
type requests struct {
	most int
	kept []string // the first one, and the newest
	// command is a slash command of which it is not known yet whether Claude Code
	// itself answers it, as it does /model and /compact. That one asks the agent for
	// nothing.
	command string
}

func (r *requests) line(line []byte) {
	if text, ok := transcript.Request(line); ok {
		r.text(text)
	}
}

// text takes what a user message says.
func (r *requests) text(text string) {
	if transcript.AnswersCommand(text) {
		r.command = "" // the client has answered it
		return
	}
	r.settle()
	if command, ok := transcript.SlashCommand(text); ok {
		r.command = command
	} else if text != "" && !transcript.IsNotice(text) {
		r.keep(text)
	}
}

// settle takes a slash command for a request: Claude Code did not answer it.
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
