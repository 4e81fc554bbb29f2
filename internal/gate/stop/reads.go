package stop

import (
	"context"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/transcript"
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

// onlyReads reports whether the agent has called no tool that could change anything in the trees since the prompt from which on
// changes can be its own. Then what has changed is a person's work, or another session's. What it left running in the background
// is its own work, and a transcript that has not come to its last words may lack a call.
func (c *call) onlyReads(ctx context.Context, payload hook.Payload, session *footprint.Session, trees []keeper.Tree) bool {
	var roots []string
	for _, tree := range trees {
		roots = append(roots, tree.Project.Root)
	}
	return c.noCall(ctx, payload, session, func(_ string, use hook.ToolUse) bool { return !c.takesNotes(use, roots) })
}

// actsOnlyElsewhere reports whether each call since then only reads, or was made where it cannot change anything in a project.
func (c *call) actsOnlyElsewhere(ctx context.Context, payload hook.Payload, session *footprint.Session, root string) bool {
	return c.noCall(ctx, payload, session, concerns(root))
}

// noCall reports whether the transcript from that prompt on has no call that does more than read and is such a one.
func (c *call) noCall(ctx context.Context, payload hook.Payload, session *footprint.Session, isSuch func(cwd string, use hook.ToolUse) bool) bool {
	p, is := payload.(*hook.StopPayload)
	begins := session.Begins
	if !is || p.LastAssistantMessage == "" || len(p.BackgroundTasks) > 0 || begins.Transcript == "" || begins.Transcript != p.TranscriptPath {
		return false
	}

	ctx, cancel := context.WithTimeout(ctx, min(transcript.Patience, c.left(c.timeout(payload, nil))/2))
	defer cancel()
	for range pause.Doubling(ctx, 10*time.Millisecond, 100*time.Millisecond) {
		if none, said, err := transcript.OnlyElsewhere(begins.Transcript, begins.At, p.LastAssistantMessage, isSuch); err != nil || said {
			return err == nil && none
		}
	}
	return false
}
