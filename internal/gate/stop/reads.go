package stop

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// endOf is the end of a transcript, which a first prompt does not have yet.
func endOf(path string) footprint.Mark {
	mark := footprint.Mark{Transcript: path}
	if info, err := os.Stat(path); err == nil {
		mark.At = info.Size()
	}
	return mark
}

// onlyReads reports whether the agent has called no tool that could change anything since the prompt from which on changes
// can be its own. Then what has changed is a person's work, or another session's. What it left running in the background
// is its own work, and a transcript that has not come to its last words may lack a call.
func (c *call) onlyReads(ctx context.Context, payload hook.Payload, session *footprint.Session) bool {
	return c.reviewed(ctx, payload, session, transcript.OnlyReads)
}

// actsApart reports whether the same holds for calls that concern a project: those that it has made elsewhere do not lead there.
func (c *call) actsApart(ctx context.Context, payload hook.Payload, session *footprint.Session, root string) bool {
	return c.reviewed(ctx, payload, session, func(path string, at int64, message string) (none, said bool, err error) {
		return transcript.NoneActs(path, at, message, concerns(root))
	})
}

// reviewed reports whether a look at the transcript from that prompt on finds nothing.
func (c *call) reviewed(ctx context.Context, payload hook.Payload, session *footprint.Session, look func(path string, at int64, message string) (none, said bool, err error)) bool {
	p, is := payload.(*hook.StopPayload)
	begins := session.Begins
	if !is || p.LastAssistantMessage == "" || len(p.BackgroundTasks) > 0 || begins.Transcript == "" || begins.Transcript != p.TranscriptPath {
		return false
	}

	ctx, cancel := context.WithTimeout(ctx, min(transcript.Patience, c.left(c.timeout(payload, nil))/2))
	defer cancel()
	for range pause.Doubling(ctx, 10*time.Millisecond, 100*time.Millisecond) {
		if none, said, err := look(begins.Transcript, begins.At, p.LastAssistantMessage); err != nil || said {
			return err == nil && none
		}
	}
	return false
}

// concerns tells the calls that may change something in a project: made in it or above it, or with a way to it.
func concerns(root string) func(cwd string, use hook.ToolUse) bool {
	top, found := paths.GitRoot(root)
	if !found {
		top = root
	}
	return func(cwd string, use hook.ToolUse) bool {
		cwd = paths.Canonical(cwd)
		if !filepath.IsAbs(cwd) || !isApart(root, cwd) {
			return true
		}
		text, stands := use.Texts(), []string{cwd}
		return footprint.Leads(text, root, stands) || footprint.Leads(text, top, stands) ||
			isWithin(cwd, top) && strings.Contains(text, "..") // from a worktree within it the way up names nothing
	}
}
