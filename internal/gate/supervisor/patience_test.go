package supervisor

import (
	"context"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// The client writes down what the agent said last while its hooks run already: a review waits for that a moment.
func TestAReviewAwaitsTheTranscript(t *testing.T) {
	for name, tt := range map[string]struct{ written, waited time.Duration }{
		"written at once":    {0, 0},
		"written a bit late": {time.Second, time.Second},
		"never written":      {time.Hour, transcript.Patience},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := looked(t)
			path := s.Payload.TranscriptPath
			text, err := os.ReadFile(path)
			check(t, err)
			text = append(text, said(t, s.Payload.LastAssistantMessage)...)
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				write := func() { check(t, os.WriteFile(path, text, 0o600)) }
				if tt.written == 0 {
					write()
				} else {
					defer time.AfterFunc(tt.written, write).Stop()
				}
				s.awaitTranscript(t.Context())
				if waited := time.Since(start); waited < tt.waited || waited > tt.waited+100*time.Millisecond {
					t.Errorf("waited %v", waited)
				}
				if there := transcript.Said(path, s.Payload.LastAssistantMessage); there != (tt.written < time.Hour) {
					t.Errorf("the message is there: %t", there)
				}
			})
		})
	}
}

// A verdict that was paid for is kept, even if the hook's time ends while another process holds the lock: two seconds
// more are left for that, and no longer.
func TestALateVerdictIsKept(t *testing.T) {
	for name, tt := range map[string]struct {
		held time.Duration // by another process, after the hook's time is over
		kept bool
	}{
		"it ends soon": {1900 * time.Millisecond, true},
		"it does not":  {time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := looked(t)
			s.id, s.dir, s.console = someSession, At(t.TempDir()), console{to: io.Discard}
			synctest.Test(t, func(t *testing.T) {
				unlock, err := lockfile.Acquire(t.Context(), s.dir.lockFile(s.id), lockPatience)
				check(t, err)
				ctx, over := context.WithCancel(t.Context())
				over()
				start := time.Now()
				defer time.AfterFunc(tt.held, unlock).Stop()
				kept := false
				s.record(ctx, func(*State) { kept = true })
				if kept != tt.kept || time.Since(start) > 2100*time.Millisecond {
					t.Errorf("kept %t after %v", kept, time.Since(start))
				}
			})
		})
	}
}
