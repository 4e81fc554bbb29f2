package stop

import (
	"context"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/gate/footprint"
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

// onlyReads reports whether the agent has called no tool that could change anything since the prompt from which on changes
// can be its own. Then what has changed is a person's work, or another session's. What it left running in the background
// is its own work, and a transcript that has not come to its last words may lack a call.
func (c *call) onlyReads(ctx context.Context, payload hook.Payload, session *footprint.Session) bool {
	return c.holdsForCalls(ctx, payload, session, transcript.OnlyReads)
}

// actsOnlyElsewhere reports whether each call since then only reads, or was made where it cannot change anything in a project.
func (c *call) actsOnlyElsewhere(ctx context.Context, payload hook.Payload, session *footprint.Session, root string) bool {
	return c.holdsForCalls(ctx, payload, session, func(path string, at int64, message string) (holds, said bool, err error) {
		return transcript.OnlyElsewhere(path, at, message, concerns(root))
	})
}

// holdsForCalls reports whether something holds for all calls in the transcript from that prompt on.
func (c *call) holdsForCalls(ctx context.Context, payload hook.Payload, session *footprint.Session, look func(path string, at int64, message string) (holds, said bool, err error)) bool {
	p, is := payload.(*hook.StopPayload)
	begins := session.Begins
	if !is || p.LastAssistantMessage == "" || len(p.BackgroundTasks) > 0 || begins.Transcript == "" || begins.Transcript != p.TranscriptPath {
		return false
	}

	ctx, cancel := context.WithTimeout(ctx, min(transcript.Patience, c.left(c.timeout(payload, nil))/2))
	defer cancel()
	for range pause.Doubling(ctx, 10*time.Millisecond, 100*time.Millisecond) {
		if holds, said, err := look(begins.Transcript, begins.At, p.LastAssistantMessage); err != nil || said {
			return err == nil && holds
		}
	}
	return false
}
