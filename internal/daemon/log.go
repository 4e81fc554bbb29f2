package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/engine"
	"github.com/stopgate/stopgate/internal/journal/watch"
)

// logPath is an owner's log: what its commands print, and what becomes of its steps. It
// is for people to read; the facts are in the store.
func logPath(stateDir, owner string) string {
	return filepath.Join(stateDir, "logs", "pipelines", owner+".log")
}

// logs writes the owners' logs.
type logs struct{ stateDir string }

// changed writes down what became of an owner.
func (l logs) changed(before, after *engine.Owner) error {
	lines := told(before, after)
	if len(lines) == 0 {
		return nil
	}
	path := logPath(l.stateDir, after.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	// One write, since the owner's commands write to the file as well.
	_, err = f.WriteString(strings.Join(lines, ""))
	return errors.Join(err, f.Close())
}

// told is the lines about what changed.
func told(before, after *engine.Owner) []string {
	was := &engine.Owner{}
	if before != nil {
		was = before
	}
	var lines []string
	say := func(step, format string, args ...any) {
		lines = append(lines, line(after.Updated, step, fmt.Sprintf(format, args...)))
	}
	if after.Cancelling && !was.Cancelling {
		say(was.Step, "cancel was asked for")
	}
	if d := was.Decision; d != nil && (after.Decision == nil || after.Decision.ID != d.ID) {
		say(d.Step, "%s", settled(after, d.ID))
	}
	for i, visit := range after.History {
		var old engine.Visit
		if i < len(was.History) {
			old = was.History[i]
		} else {
			say(visit.Step, "step started")
		}
		if visit.AgentID != "" && visit.AgentID != old.AgentID {
			say(visit.Step, "agent %s", visit.AgentID)
		}
		if visit.Outcome != "" && old.Outcome == "" {
			say(visit.Step, "step %s%s", visit.Outcome, because(visit.Error))
		}
	}
	if d := after.Decision; d != nil && (was.Decision == nil || was.Decision.ID != d.ID) {
		say(d.Step, "waiting for a person: %s (decision %s)", d.Context, d.ID)
	}
	if after.Terminal() && !was.Terminal() {
		say(after.Step, "%s %s%s", noun(after.Kind), after.Step, because(after.Error))
	}
	return lines
}

// settled says how a decision was.
func settled(o *engine.Owner, id string) string {
	for _, d := range o.Settled {
		switch {
		case d.ID != id:
		case d.Closed != "":
			return "no longer waiting: " + d.Closed
		case d.Message != "":
			return fmt.Sprintf("answered: %s %q", d.Chosen, d.Message)
		default:
			return "answered: " + d.Chosen
		}
	}
	return "no longer waiting"
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func noun(kind engine.Kind) string {
	if kind == engine.AgentRun {
		return "agent run"
	}
	return "pipeline"
}

// line is one line of a log. What has several lines becomes one.
func line(at time.Time, step, text string) string {
	return fmt.Sprintf("%s [%s] %s\n", at.UTC().Format("2006-01-02T15:04:05Z"), step, strings.Join(strings.Fields(text), " "))
}

// copyLog writes an owner's log. With follow it goes on until over says that there is
// nothing more to come, or the context ends. changes says when to ask it again.
func copyLog(ctx context.Context, path string, follow bool, over func() bool, changes func() <-chan struct{}, to io.Writer) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was written yet
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if !follow {
		_, err := io.Copy(to, f)
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	grown, err := watch.Changes(ctx, path)
	if err != nil {
		return err
	}
	for {
		changed, last := changes(), over() // before the look: what is written then is seen
		if _, err := io.Copy(to, f); err != nil || last {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grown:
		case <-changed:
		}
	}
}
