package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/control/watch"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// logPath is an owner's log: what its commands print, and what becomes of its steps. It
// is for people to read; the facts are in the store.
func logPath(stateDir, owner string) string { return filepath.Join(logDir(stateDir), owner+".log") }

func logDir(stateDir string) string { return filepath.Join(stateDir, "logs", "pipelines") }

// logs writes the owners' logs.
type logs struct {
	stateDir string
	limit    func() int64 // of the output of one command; nil is for errand.LogLimit

	mu   sync.Mutex
	kept map[string][]string // lines by owner that a log did not take yet
}

// keptLines bounds what waits for a log. The facts are in the store.
const keptLines = 100

// changed writes down what became of an owner.
func (l *logs) changed(before, after *engine.Owner, facts []engine.Fact) error {
	return l.add(after.ID, logLines(before, after, facts))
}

// retry writes what could not be written before.
func (l *logs) retry() (err error) {
	l.mu.Lock()
	owners := slices.Sorted(maps.Keys(l.kept))
	l.mu.Unlock()
	for _, id := range owners {
		err = errors.Join(err, l.add(id, nil))
	}
	return err
}

// add adds lines to an owner's log, after those that it did not take before.
func (l *logs) add(id string, lines []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines = slices.Concat(l.kept[id], lines)
	delete(l.kept, id)
	if len(lines) == 0 {
		return nil
	}
	written, err := l.write(id, lines)
	if err != nil {
		if l.kept == nil {
			l.kept = map[string][]string{}
		}
		rest := lines[written:]
		l.kept[id] = rest[max(0, len(rest)-keptLines):]
	}
	return err
}

// write writes line by line: of one that the disk took in part the rest is told apart.
func (l *logs) write(id string, lines []string) (written int, err error) {
	path := logPath(l.stateDir, id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	for err == nil && written < len(lines) {
		if err = errand.Append(f, lines[written], l.most()); err == nil {
			written++
		}
	}
	return written, errors.Join(err, f.Close())
}

// most is where a log ends for us: behind the output of commands there is room for what became of
// them.
func (l *logs) most() int64 {
	limit := int64(0)
	if l.limit != nil {
		limit = l.limit()
	}
	return errand.OwnerLimit(limit) + 1<<20
}

// logLines are the lines about what changed, and about what was heard and done.
func logLines(before, after *engine.Owner, facts []engine.Fact) []string {
	was := &engine.Owner{}
	if before != nil {
		was = before
	}

	var lines []string
	say := func(step, format string, args ...any) {
		lines = append(lines, errand.Line(after.Updated, step, plain.Line(fmt.Sprintf(format, args...))))
	}

	if after.Cancelling && !was.Cancelling {
		say(was.Step, "cancel requested")
	}
	if d := was.Decision; d != nil && (after.Decision == nil || after.Decision.ID != d.ID) {
		say(d.Step, "%s", settled(after, d.ID))
	}

	for _, fact := range facts {
		if text := happened(was, fact); text != "" {
			say(cmp.Or(was.Step, after.Step), "%s", text)
		}
	}
	for _, fact := range facts {
		if report, is := fact.(engine.ChildReported); is { // before what it leads to
			say(was.Step, "%s", childReported(was, report))
		}
	}

	for _, visit := range after.History {
		old, known := sameVisit(was.History, visit)
		if !known {
			say(visit.Step, "step started")
		}
		if visit.AgentID != "" && visit.AgentID != old.AgentID {
			say(visit.Step, "agent %s", visit.AgentID)
		}
		if visit.Outcome != "" && old.Outcome == "" {
			say(visit.Step, "step %s%s", visit.Outcome, because(visit.Error))
		}
	}

	for _, fact := range facts {
		if text := childStarted(after, fact); text != "" {
			say(after.Offspring.Step, "%s", text)
		}
	}
	for _, e := range after.Effects {
		if _, known := was.Effect(e.Key); !known && e.Kind == engine.SendAgent {
			say(after.Step, "sending the agent: %s", firstLine(e.Text))
		}
	}

	if d := after.Decision; d != nil && (was.Decision == nil || was.Decision.ID != d.ID) {
		say(d.Step, "waiting for a decision: %s (decision %s)", firstLine(d.Context), d.ID)
	}
	if after.Terminal() && !was.Terminal() {
		say(after.Step, "%s %s%s", daemonapi.KindWord(string(after.Kind)), after.Step, because(after.Error))
	}
	return lines
}

// happened is what a fact tells that is not to be seen of the owner itself.
func happened(was *engine.Owner, fact engine.Fact) string {
	switch f := fact.(type) {
	case engine.AgentSignal:
		return fmt.Sprintf("the agent signalled %s%s", f.Kind, because(firstLine(f.Message)))
	case engine.ShellStarted:
		if f.Gate != "" {
			return "gate of " + f.Gate + " started"
		}
	case engine.ShellExited:
		switch gate := was.Shell; {
		case gate == nil || gate.Gate == "" || gate.Key != f.Key:
		case f.Lost:
			return "gate of " + gate.Gate + ": its result is unknown"
		default:
			return fmt.Sprintf("gate of %s: exit %d", gate.Gate, f.Code)
		}
	case engine.AgentRestarted:
		return "the agent was restarted, replacing " + f.Replaces
	case engine.AgentExited:
		return fmt.Sprintf("the agent exited with status %d", f.Code)
	case engine.PipelineQueued:
		return "queued in group " + f.Group
	case engine.PipelineAdmitted:
		return "there is room in group " + f.Group
	case engine.PipelineResumed:
		return "resumed by the user"
	case engine.AgentReady:
		return "Claude Code has started"
	case engine.AgentSession:
		return "the agent continues in session " + f.Session
	case engine.AgentError:
		return fmt.Sprintf("the model's API failed (%s)%s", f.Kind, because(firstLine(f.Text)))
	case engine.AgentDeferred:
		if !f.Until.IsZero() {
			return "the agent is parked until " + f.Until.Format(time.RFC3339)
		}
	case engine.BudgetExtended:
		return "the budget was extended"
	}
	return workspaceHappened(was, fact)
}

// firstLine is as much of a text as a line of the log is to have.
func firstLine(text string) string {
	const most = 200 // characters
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(plain.Line(line))
	if len(runes) > most || rest != "" {
		return string(runes[:min(len(runes), most)]) + "…"
	}
	return string(runes)
}

// sameVisit finds a visit in an older history. That forgets its oldest visits, so that the
// place says nothing.
func sameVisit(history []engine.Visit, v engine.Visit) (engine.Visit, bool) {
	for _, old := range slices.Backward(history) {
		if old.Step == v.Step && old.Started.Equal(v.Started) {
			return old, true
		}
	}
	return engine.Visit{}, false
}

// settled says how a decision was.
func settled(o *engine.Owner, id string) string {
	for _, d := range o.Settled {
		switch {
		case d.ID != id:
		case d.Closed != "":
			return "no longer waiting: " + d.Closed
		case d.Expired && d.Chosen == "":
			return "no answer in time"
		case d.Expired:
			return "no answer in time: " + d.Chosen
		case len(d.Answers) > 0:
			return fmt.Sprintf("answered: %q", d.Answers)
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

// copyLog writes an owner's log. With follow it goes on until over says that there is
// nothing more to come, or the context ends. It looks and asks again when one of the
// channels that changed and grown return is closed.
func copyLog(ctx context.Context, log *logReader, follow bool, over func() bool, changed, grown func() <-chan struct{}, to io.Writer) error {
	defer log.close()
	if !follow {
		return log.copy(to)
	}
	for {
		news, more, last := changed(), grown(), over() // before the look: what is written then is seen
		if err := log.copy(to); err != nil || last {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-more:
		case <-news:
		}
	}
}

// logReader reads a log that may not be there yet.
type logReader struct {
	path  string
	from  int64 // where to begin
	limit int64 // of bytes; 0 is none
	file  *os.File
}

// copy writes what was not written before.
func (l *logReader) copy(to io.Writer) error {
	if l.file == nil {
		f, err := os.Open(l.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		l.file = f
		if _, err := f.Seek(l.from, io.SeekStart); err != nil {
			return err
		}
	}

	var from io.Reader = l.file
	if l.limit > 0 {
		from = io.LimitReader(l.file, l.limit)
	}
	_, err := io.Copy(to, from)
	return err
}

func (l *logReader) close() {
	if l.file != nil {
		_ = l.file.Close() // it was only read
	}
}

// growth tells when logs grow. However many follow one, the directory is watched once:
// the system has few watchers for each user.
type growth struct {
	dir  string
	tell func(error) // what keeps it from watching, or nil

	mu        sync.Mutex
	followers int
	end       func()     // ends the watch, and waits for that
	news      nudge.Bell // some log has grown
}

// follow has the directory watched until leave.
func (g *growth) follow() (leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.followers++; g.followers == 1 {
		ctx, cancel := context.WithCancel(context.Background())
		var watching sync.WaitGroup
		watching.Go(func() { watch.Directory(ctx, g.dir, g.news.Ring, g.tell) })
		g.end = func() { cancel(); watching.Wait() }
	}
	return g.leave
}

func (g *growth) leave() {
	g.mu.Lock()
	end := g.end
	g.followers--
	last := g.followers == 0
	g.mu.Unlock()
	if last {
		end()
	}
}
