package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// review has a copy of the session look at the work.
func (s *session) review(ctx context.Context, d Decision, state State, at identity) Decision {
	own := claude.Personal(s.Environ, s.workDir())
	program, err := claude.Find(own)
	if err != nil {
		return s.unavailable(err)
	}

	process.Adopt()
	s.console.reviewing(s.dir.LogFile(), s.dir.OutputFile(s.id))
	start := s.now()
	made := s.forkBeside(ctx)
	prompt := s.prompt(ctx, d, state)
	result, err := s.ask(ctx, program, own, <-made, prompt)
	d.Cost = result.Spent()

	review := Review{
		At: start, PromptID: s.Payload.PromptID, DurationMS: s.now().Sub(start).Milliseconds(), Cost: d.Cost,
		Tree: at.tree, Conversation: at.conversation,
	}
	if err != nil {
		failed := s.unavailable(err)
		failed.Iteration, failed.Limit, failed.Cost = d.Iteration, d.Limit, d.Cost
		s.spend(ctx, review)
		return failed
	}

	opinion := interpret(result)
	opinion.Feedback = shorten(s.secrets.HideString(opinion.Feedback), maxReason, 4*maxReason)
	review.AllowStop, review.Feedback = opinion.AllowStop, opinion.Feedback
	d = s.conclude(d, opinion)
	review.Status = string(d.Status)
	s.record(ctx, func(state *State) { state.Record(review) })
	return d
}

// maxReason is how many characters an agent is told at most. A reviewer that pours
// out megabytes must not fill the agent's context; Claude Code takes this much.
const maxReason = 100_000

// spend keeps what a review cost that came to no verdict.
func (s *session) spend(ctx context.Context, r Review) {
	if r.Cost != (event.Cost{}) {
		s.record(ctx, func(state *State) { state.Spent = state.Spent.Plus(r.Cost) })
	}
}

// record changes the state. When the hook's own time is over there is a little left
// for it: a verdict that was paid for is kept.
func (s *session) record(ctx context.Context, change func(*State)) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(2*time.Second, cancel) })()
	_, err := s.dir.Update(late, s.id, s.now(), func(state *State) error {
		change(state)
		return nil
	})
	if err != nil {
		s.warn(err)
	}
}

// prompt is what the reviewer is told.
func (s *session) prompt(ctx context.Context, d Decision, state State) string {
	sources := Sources{
		Payload: s.Payload, Dir: s.workDir(), StateDir: s.stateDir, Environ: s.Environ, Now: s.now(),
		Iteration: d.Iteration, Limit: d.Limit,
	}
	if s.Project != nil {
		sources.Root = s.Project.Root
	}
	if last := state.Last; last != nil && !last.AllowStop {
		sources.Previous = last.Feedback
	}
	return Prompt(s.instructions(), Gather(ctx, sources))
}

// workDir is where the session was started: only from there does Claude Code find
// it. The payload's directory follows the agent.
func (s *session) workDir() string {
	for _, dir := range []string{environ.Get(s.Environ, "CLAUDE_PROJECT_DIR"), s.Payload.CWD} {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			return dir
		}
	}
	return "."
}

// ask runs Claude Code with the person's own environment. It is ended as soon as its result is there: it would go on
// with the work.
func (s *session) ask(ctx context.Context, program string, own []string, from fork, prompt string) (claude.Result, error) {
	if from.err != nil {
		return claude.Result{}, from.err
	}
	defer from.remove()

	output := s.keepOutput()
	defer output.close()
	args, stdin := claude.Fork{
		Session: from.session, Schema: Schema, Prompt: s.secrets.HideString(prompt),
		Dir: s.workDir(), Config: claude.ConfigDir(own),
	}.Command()
	enough := make(chan struct{})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream := &claude.Stream{
		Line: output.keep,
		Text: s.console.upTo(maxSaid),
		Done: sync.OnceFunc(func() { close(enough) }),
	}
	run := process.Run(ctx, process.Command{
		Args:    append([]string{program}, args...),
		Dir:     s.workDir(),
		Env:     claude.Environ(own),
		Stdin:   stdin,
		Timeout: s.settings.Timeout,
		Stdout:  output.limit(stream, func() { cancel(errTooMuch) }),
		Spool:   output.spool,
		Enough:  enough,
	})
	process.EndOrphans() // what left its group and threw its environment away
	result, err := stream.Result()
	if output.err != nil { // the review counts all the same
		s.warn(output.err)
	}
	run.Tail = s.secrets.HideString(wholeLines(run.Tail))
	if stderr := s.line(run.Tail); stderr != "" {
		s.log("reviewer's standard error", "session_id", s.id, "text", excerpt(stderr))
	}
	switch {
	case context.Cause(ctx) == errTooMuch:
		return result, errTooMuch
	case err != nil:
		return result, s.noResult(program, run)
	}
	if err := result.Err(); err != nil {
		return result, fmt.Errorf("the reviewer failed: %s", excerpt(s.line(err.Error())))
	}
	return result, nil
}

// wholeLines drops what may be half a line, and half a secret, at the beginning of
// the last lines of an output.
func wholeLines(tail string) string {
	rest, cut := strings.CutPrefix(tail, "[…]\n")
	if !cut {
		return tail
	}
	_, rest, _ = strings.Cut(rest, "\n")
	return rest
}

// line makes one line of a text. A secret with colors or escapes in it is found only
// when these are gone.
func (s *session) line(text string) string {
	return s.secrets.HideString(plain.Line(bounded(text, 64<<10)))
}

// noResult says why a client gave none.
func (s *session) noResult(program string, run process.Result) error {
	name := filepath.Base(program)
	switch {
	case run.Err != nil, run.TimedOut, run.Canceled:
		return fmt.Errorf("%s %s", name, run)
	}
	if last := s.line(plain.LastLine(run.Tail)); last != "" {
		return fmt.Errorf("%s ended without a result (%s): %s", name, run, excerpt(last))
	}
	return fmt.Errorf("%s ended without a result (%s)", name, run)
}

// instructions are the person's own, else the ones built in.
func (s *session) instructions() string {
	names := []string{"SUPERVISOR.md"}
	if own := s.settings.PromptFile; own != "" {
		names = []string{own, "SUPERVISOR.md"}
	}
	for _, name := range names {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.config, name)
		}
		text, err := readInstructions(path)
		switch {
		case err == nil && strings.TrimSpace(text) != "":
			return text
		case err != nil && !(errors.Is(err, os.ErrNotExist) && name == "SUPERVISOR.md"):
			s.warn(err)
		}
	}
	return Builtin()
}

// maxInstructions is far more than anybody would want to read.
const maxInstructions = 1 << 20

func readInstructions(path string) (string, error) {
	text, err := regular.Read(path, maxInstructions)
	return string(text), err
}
