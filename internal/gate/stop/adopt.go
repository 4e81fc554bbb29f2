package stop

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// A client whose settings have two entries of ours that are not written alike calls us
// twice for one stop, at the same time. The second call waits for the first one's answer
// and gives the same: judging again would count again.

// given is the last answer to a stop of a session.
type given struct {
	Payload  string    `json:"payload"` // digest
	At       time.Time `json:"at"`
	Decision string    `json:"decision"`
	Stdout   []byte    `json:"stdout"`
	Record   string    `json:"record,omitempty"`  // where the journal's record of it ends
	Callers  []string  `json:"callers,omitempty"` // digests of the entries that have got it
}

// turn is one stop of a session: the calls about it take turns.
type turn struct {
	file    string
	now     given // of this call, before it is answered
	release func()
}

// takeTurn waits for other calls of the same session's stop; the turn is nil where it cannot, or
// need not: of a session without a project nothing is judged. busy means that this call's time is
// over and another one still judges.
func (c *call) takeTurn(ctx context.Context, payload hook.Payload, raw []byte, session *footprint.Session) (t *turn, busy bool) {
	base := payload.Common()
	if payload.Event() != hook.Stop || base.SessionID == "" || session == nil {
		return nil, false
	}
	t = &turn{
		file: answerFile(c.StateDir, base.SessionID),
		now:  given{Payload: digest.Hex(raw)},
	}
	if c.Caller != "" {
		t.now.Callers = []string{digest.Hex(c.Caller)}
	}
	release, err := lockfile.Acquire(ctx, t.file+lockfile.Suffix, c.left(c.timeout(payload, nil)))
	if err != nil {
		c.logf("wait for another call about the same stop: %v", err)
		return nil, errors.Is(err, lockfile.ErrBusy)
	}
	t.release = release
	return t, false
}

// answersDir is where answers are kept.
func answersDir(stateDir string) string { return filepath.Join(stateDir, "answers") }

// answerFile is where the last answer to a stop of a session is kept.
func answerFile(stateDir, session string) string {
	return filepath.Join(answersDir(stateDir), digest.Hex(session)[:24]+".json")
}

// Last is the journal's record of a session's last stop, if a project was judged at it. It reads that
// record alone: who shows a status line cannot look for it.
func Last(stateDir, session string) (*event.Record, bool) {
	answer, err := statefile.Read[given](answerFile(stateDir, session), maxKept)
	if err != nil {
		return nil, false
	}
	at, err := journal.ParsePosition(answer.Record)
	if err != nil {
		return nil, false
	}
	r, err := journal.New(journalDir(stateDir), journal.Limits{}).EndingAt(at)
	return r, err == nil && r.Session == id(session)
}

// pruneAnswers forgets answers to sessions that have been silent for a month.
func pruneAnswers(stateDir string, now time.Time) {
	lockfile.Prune(answersDir(stateDir), now.Add(-30*24*time.Hour))
}

// adopted is the answer that another call gave to the same stop: to the same payload, and
// after this call had begun, or just before to an entry that is not this one's. Other answers are of an
// earlier stop, however alike: Claude Code calls each entry once for a stop.
func (t *turn) adopted(start, now time.Time) (answer given, found bool) {
	if t == nil {
		return given{}, false
	}
	answer, err := statefile.Read[given](t.file, maxKept)
	if err != nil || answer.Payload != t.now.Payload {
		return given{}, false
	}
	if !answer.At.After(start) && !(t.isNewTo(answer) && now.Sub(answer.At) < together) {
		return given{}, false
	}
	answer.Callers = append(answer.Callers, t.now.Callers...)
	t.write(answer)
	return answer, true
}

// outdated reports whether the work may be another one than the answer allowed: it was given before a call
// began. To judge that once more costs little, because of the proofs.
func (g given) outdated(start time.Time) bool { return g.Decision != "block" && !g.At.After(start) }

// together is how far apart two calls for one stop may begin. Claude Code starts them at once, but a plugin's
// was seen to begin only when the other one, with a fast gate, had been answered.
const together = 10 * time.Second

// isNewTo reports whether the entry that calls is known, and an answer was given to others alone.
func (t *turn) isNewTo(answer given) bool {
	return len(answer.Callers) > 0 && len(t.now.Callers) > 0 && !slices.Contains(answer.Callers, t.now.Callers[0])
}

// keep keeps the answer for another call about the same stop. What cannot be kept only
// means that it judges for itself.
func (t *turn) keep(decision string, stdout []byte, record journal.Position, now time.Time) {
	if t == nil {
		return
	}
	t.now.At, t.now.Decision, t.now.Stdout = now, decision, stdout
	if record != (journal.Position{}) {
		t.now.Record = record.String()
	}
	t.write(t.now)
}

func (t *turn) write(answer given) {
	if text, err := json.Marshal(answer); err == nil {
		_ = atomicfile.Renew(t.file, text, 0o600)
	}
}

// end lets another call go on.
func (t *turn) end() {
	if t != nil {
		t.release()
	}
}

// adopt answers as another call did.
func (c *call) adopt(rec event.Record, answer given) Reply {
	rec.Decision = answer.Decision
	rec.Verdicts = []event.Verdict{{
		Keeper: "chain", Outcome: keeper.Passed.String(), Status: "adopted", Reused: true, Blocked: answer.Decision == "block",
		Message: "another stopgate entry in the settings answered this stop; this call gave the same answer",
	}}
	c.write(rec, event.Answered)
	return Reply{Stdout: answer.Stdout}
}

// outwaited is the judgement on a stop that another call still judges when the time of this
// one is over. It says nothing about the work, so it counts as no retry; but an agent that
// was red, or has changed something, is held.
func (c *call) outwaited(ctx context.Context, kc *keeper.Call) Judgement {
	if len(c.applying(kc)) == 0 {
		return Judgement{Blocked: -1}
	}
	rest := c.timeout(kc.Payload, kc.Project) - c.Now().Sub(c.start) // before Claude Code ends us
	ctx, cancel := context.WithTimeout(ctx, rest/2)
	defer cancel()
	const what = "another stopgate hook was still checking this stop when this one timed out"
	plan := kc.Payload.Common().PermissionMode == "plan"
	for i := range kc.Trees {
		tree := &kc.Trees[i]
		if !c.global.Observes(tree.Project.Config) && c.answersFor(ctx, tree, plan) {
			return Judgement{Verdicts: []keeper.Verdict{{
				Keeper: "chain", Outcome: keeper.Failed, Status: "deadline", Uncounted: true, Summary: what,
				Reason: keeper.Words("the work in %s was not checked: %s. Stop again when that hook has finished.", plain.Name(tree.Project.Root), what),
			}}}
		}
	}
	return Judgement{Verdicts: []keeper.Verdict{couldNotRun("chain", "deadline", what)}, Blocked: -1}
}

// answersFor reports whether the agent has something to answer for in a tree: it was
// refused there, or the tree is not known to be the one that it found. A plan changes
// nothing unless the tree says that something has changed.
func (c *call) answersFor(ctx context.Context, tree *keeper.Tree, plan bool) bool {
	if tree.Red {
		return true
	}
	now := ""
	if tree.Baseline != "" {
		now = gauntlet.TreeOf(ctx, tree.Project, c.StateDir, c.Environ, c.Now)
	}
	if now == "" {
		return !plan
	}
	return now != tree.Baseline
}
