package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// fork is what a reviewer goes on with, once it is there.
type fork struct {
	session string
	remove  func()
	err     error
}

// forkBeside makes a fork while its caller does something else: a long conversation takes as long to copy as git takes
// to tell what has changed. No panic leaves its goroutine.
func (s *session) forkBeside(ctx context.Context) <-chan fork {
	made := make(chan fork, 1)
	go func() {
		f := fork{remove: func() {}}
		defer func() {
			if r := recover(); r != nil {
				f.err = fmt.Errorf("copy the transcript: %v", r)
			}
			made <- f
		}()
		f.session, f.remove, f.err = s.forkable(ctx)
	}()
	return made
}

// forkable is what the reviewer goes on with: a copy of the session's transcript that
// has nothing of the project's memory in it. Without a transcript it is the session's id,
// for Claude Code to find or not.
func (s *session) forkable(ctx context.Context) (session string, remove func(), err error) {
	remove = func() {}
	if !filepath.IsAbs(s.Payload.TranscriptPath) {
		return s.id, remove, nil
	}
	from, err := transcript.Open(s.Payload.TranscriptPath)
	if errors.Is(err, fs.ErrNotExist) {
		return s.id, remove, nil
	}
	if err != nil {
		return "", remove, err
	}
	defer from.Close()
	s.awaitTranscript(ctx)

	// A killed hook leaves a file that Prune knows.
	to, err := os.CreateTemp(s.dir.Path(), litterPrefix+"*.jsonl")
	if err != nil {
		return "", remove, fmt.Errorf("copy the transcript: %w", err)
	}
	remove = func() { _ = os.Remove(to.Name()) }
	if err = errors.Join(transcript.Spoken(to, from), to.Close()); err != nil {
		remove()
		return "", func() {}, fmt.Errorf("copy the transcript: %w", err)
	}
	return to.Name(), remove, nil
}

// awaitTranscript gives Claude Code a moment to write down what the agent said last.
func (s *session) awaitTranscript(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, transcript.Patience)
	defer cancel()
	for range pause.Doubling(ctx, 10*time.Millisecond, 100*time.Millisecond) {
		if said := s.Payload.LastAssistantMessage; said == "" || transcript.Said(s.Payload.TranscriptPath, said) {
			return
		}
	}
}
