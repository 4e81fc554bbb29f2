package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	// maxKept is how much of what one reviewer prints is kept. It is there to be
	// read.
	maxKept = 64 << 20
	// maxOutput is how much a reviewer may print. What it prints to takes room until it
	// has ended.
	maxOutput = 256 << 20
)

// errTooMuch ends a reviewer that does not stop printing.
var errTooMuch = errors.New("the reviewer printed more than 256 MiB")

// keptOutput is where the output of a reviewer goes, without the secrets in it.
type keptOutput struct {
	secrets Secrets
	to      *os.File // nil: it could not be opened
	err     error    // why something is not kept; the first one
	size    int64    // of what was to be kept
	printed int64

	// spool is what Claude Code prints to; nil is a pipe. A client (2.1.197) exits
	// before a pipe has taken a long answer.
	spool *os.File
}

func (s *session) keepOutput() *keptOutput {
	k := &keptOutput{secrets: s.secrets}
	k.to, k.err = s.dir.OpenOutput(s.id)
	k.spool, _ = newSpool() // a pipe will do for all but the longest answers
	return k
}

// limit passes on what the reviewer prints, until that is too much.
func (k *keptOutput) limit(to io.Writer, tooMuch func()) io.Writer {
	return writer(func(p []byte) (int, error) {
		if k.printed += int64(len(p)); k.printed > maxOutput {
			tooMuch()
			return len(p), nil
		}
		return to.Write(p)
	})
}

// keep writes a line, without the secrets in it.
func (k *keptOutput) keep(line []byte) {
	k.size += int64(len(line))
	switch {
	case k.err != nil:
	case k.size > maxKept:
		k.err = fmt.Errorf("the reviewer printed more than %d MiB; the rest is not kept", maxKept>>20)
	default:
		_, k.err = k.to.Write(k.secrets.Hide(line))
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func (k *keptOutput) close() {
	for _, file := range []*os.File{k.to, k.spool} {
		if file != nil {
			_ = file.Close() // nothing is buffered
		}
	}
}

// OpenOutput opens the file for what a session's reviewers print, to append to.
func (d Dir) OpenOutput(session string) (*os.File, error) {
	if err := CheckSession(session); err != nil {
		return nil, err
	}
	file, err := d.openAppend(d.OutputFile(session))
	if err != nil {
		return nil, fmt.Errorf("open the file for the review: %w", err)
	}
	return file, nil
}
