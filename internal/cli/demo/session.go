package demo

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// prompt has a person write to an agent.
func (s *stage) prompt(ctx context.Context, session, text string) error {
	s.stops++
	s.print(fmt.Sprintf("%-6s you: %s", session, text))
	if err := s.transcribe(session, transcript.User, text); err != nil {
		return err
	}
	_, err := s.hook(ctx, session, &hook.UserPromptSubmitPayload{Base: hook.Base{HookEventName: string(hook.UserPromptSubmit)}, Prompt: text})
	s.pause(ctx)
	return err
}

// stop has an agent stop. It is an error if the stop is not answered as wanted.
func (s *stage) stop(ctx context.Context, session string, allowed bool) error {
	if err := s.transcribe(session, transcript.Assistant, "Done."); err != nil {
		return err
	}
	a, err := s.hook(ctx, session, &hook.StopPayload{Base: hook.Base{HookEventName: string(hook.Stop)}})
	if err != nil {
		return err
	}
	if a.Blocks == allowed {
		return fmt.Errorf("unexpected answer to the stop of %s: %s%s", session, a.Reason, a.Message)
	}
	if allowed {
		gates := strings.TrimPrefix(plain.Line(a.Message), "stopgate: ")
		s.print(fmt.Sprintf("%-6s %s  %s", session, s.paint.Green("✓ may stop"), s.paint.Faint(cmp.Or(gates, "all gates have passed for exactly these files"))))
	} else {
		s.print(fmt.Sprintf("%-6s %s, and the agent is told why:", session, s.paint.Red("✗ may not stop")))
		s.wrap("       │ ", strings.TrimSpace(a.Reason), s.paint.Faint)
	}
	s.pause(ctx)
	return nil
}

// transcribe adds a line to the session's transcript, as Claude Code writes it.
func (s *stage) transcribe(session, role, text string) error {
	line, err := transcript.Compose(session, s.project, role, text, time.Now())
	if err != nil {
		return err
	}
	path := s.transcript(session)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.Write(line)
	return err
}

func (s *stage) transcript(session string) string {
	return transcript.Path(filepath.Join(s.home, ".claude"), s.project, session)
}
