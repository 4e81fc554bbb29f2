// Package supervisor is the keeper that has a second Claude review the work
// before an agent stops.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Stop is one stop to be looked at.
type Stop struct {
	Payload *hook.StopPayload
	Project *keeper.Project // nil outside any project
	Environ []string        // of the hook's process
	Global  config.Supervisor
	// Reuse spares the review of a tree and a conversation that are exactly those
	// of the last one, whose verdict holds.
	Reuse bool
}

// Status is what came of looking at a stop.
type Status string

// The statuses. The last three allow the stop because nobody judged it.
const (
	Completed    Status = "completed"
	NotCompleted Status = "not_completed"
	LimitReached Status = "limit_reached" // reviewed often enough: the agent is let go
	BudgetSpent  Status = "budget_spent"
	BadSession   Status = "bad_session"
	Unavailable  Status = "unavailable"
)

// Decision is what the supervisor makes of a stop.
type Decision struct {
	Status   Status
	Feedback string // for the agent, when the work is not complete
	Message  string // for the person; empty when there is nothing to tell
	Reused   bool
	Again    bool // the person was told so at an earlier stop
	// Iteration of Limit is which review of its series this was.
	Iteration, Limit int
	Cost             event.Cost
}

// session is one session's stop on its way.
type session struct {
	Stop
	id       string
	dir      Dir
	config   string // directory of ccc.json
	stateDir string
	settings config.SupervisorSettings
	console  console
	secrets  Secrets
	now      func() time.Time
}

// Decide looks at a stop. Whatever breaks, the decision is one that allows.
func (k *Keeper) Decide(ctx context.Context, stop Stop) Decision {
	s, err := k.session(stop)
	if err != nil {
		return unavailable(err)
	}
	if err := CheckSession(s.id); err != nil {
		why := s.secrets.HideString(err.Error()) // it quotes what may be anything
		s.console.say("[SUPERVISOR] %v", err)
		s.log("refused", "reason", why)
		return Decision{Status: BadSession, Message: why}
	}
	return s.decide(ctx)
}

func (k *Keeper) session(stop Stop) (*session, error) {
	getenv := func(name string) string { return environ.Get(stop.Environ, name) }
	dir, err := paths.SupervisorDir(getenv)
	if err != nil {
		return nil, err
	}
	configDir, err := paths.LauncherDir(getenv)
	if err != nil {
		return nil, err
	}

	configFile := filepath.Join(configDir, launch.ConfigFile)
	own, err := launch.LoadSupervisor(configFile)
	s := &session{
		Stop:     stop,
		id:       stop.Payload.SessionID,
		dir:      At(dir),
		config:   configDir,
		stateDir: k.StateDir,
		settings: config.ResolveSupervisor(own, stop.Global),
		secrets:  secretsOf(slices.Concat(stop.Environ, launch.Variables(configFile, stop.Environ))),
		now:      k.Now,
	}

	s.console = console{to: k.Stderr, secrets: s.secrets, english: !environ.BothLanguages(stop.Environ)}
	if err != nil {
		s.log("warning", "reason", err.Error(), "instead", "invalid values fall back to the defaults")
		s.console.say("warning: %v; invalid values fall back to the defaults", err)
	}
	return s, nil
}

func (s *session) decide(ctx context.Context) Decision {
	state, refusal, err := s.begin(ctx)
	if err != nil {
		// Without a count nothing would end a loop.
		return s.unavailable(fmt.Errorf("count the review: %w", err))
	}
	d := Decision{Iteration: state.Iteration(), Limit: s.settings.MaxIterations}
	s.log("supervisor-hook invoked", "session_id", s.id, "iteration", fmt.Sprintf("%d/%d", d.Iteration, d.Limit))
	s.console.begin(s.id, d.Iteration, d.Limit)
	if state.Damaged {
		s.log("warning", "session_id", s.id, "reason", "the state could not be read and was moved aside")
		s.console.say("warning: the state of this session could not be read and was moved aside; the count of reviews is reset")
	}
	if refusal.Status != "" {
		return s.stand(refusal, d)
	}
	identity := s.identity(ctx)
	if last := state.Last; last != nil && identity.known() && identity == identityOf(last) && !s.sentBack(last) {
		d.Reused = true
		return s.conclude(d, Opinion{AllowStop: last.AllowStop, Feedback: last.Feedback, Source: "reused"})
	}
	return s.review(ctx, d, state, identity)
}

// sentBack reports whether the agent has answered to the refusal since. Then it is
// not the same conversation, even where the transcript, which lags, looks so.
func (s *session) sentBack(last *Review) bool {
	return !last.AllowStop && s.Payload.StopHookActive
}

// begin counts the review, unless there is to be none.
func (s *session) begin(ctx context.Context) (state State, refusal Decision, err error) {
	_, err = s.dir.Update(ctx, s.id, s.now(), func(next *State) error {
		refusal = s.refusal(next)
		state = *next
		if refusal.Again {
			return errUnchanged
		}
		next.Told = string(refusal.Status)
		return nil
	})
	if refusal.Status != "" {
		err = nil // that it could not be noted is no reason to say something else
	}
	return state, refusal, err
}

// refusal is why there is to be no review; otherwise the review is counted.
func (s *session) refusal(state *State) (d Decision) {
	switch {
	case s.settings.MaxCost > 0 && state.Spent.USD >= s.settings.MaxCost:
		d = Decision{Status: BudgetSpent, Message: fmt.Sprintf(
			"the reviews of this session have cost $%.2f of the $%.2f that max_cost_usd allows; its stops are no longer reviewed",
			state.Spent.USD, s.settings.MaxCost)}
	case !state.Begin(s.Payload.PromptID, s.settings.MaxIterations):
		d = Decision{Status: LimitReached, Message: fmt.Sprintf(
			"stop allowed without another review: max_iterations is %d", s.settings.MaxIterations)}
	}
	d.Again = d.Status != "" && state.Told == string(d.Status)
	return d
}

// errUnchanged keeps a state from being written.
var errUnchanged = errors.New("nothing to write")

// stand lets the agent go without a review.
func (s *session) stand(refusal, d Decision) Decision {
	d.Status, d.Message, d.Again = refusal.Status, refusal.Message, refusal.Again
	s.log("stop allowed", "session_id", s.id, "status", string(d.Status))
	s.console.say("[SUPERVISOR] %s", d.Message)
	return d
}

// conclude makes a decision of the reviewer's opinion.
func (s *session) conclude(d Decision, o Opinion) Decision {
	d.Status = Completed
	if !o.AllowStop {
		d.Status, d.Feedback = NotCompleted, o.Feedback
	}
	s.log("review finished", "session_id", s.id, "status", string(d.Status), "answer", o.Source,
		"cost_usd", fmt.Sprintf("%.4f", d.Cost.USD), "feedback", excerpt(o.Feedback))
	s.console.end(o)
	return d
}

// unavailable lets the agent go because nobody could judge its work.
func (s *session) unavailable(err error) Decision {
	d := unavailable(err)
	d.Message = s.secrets.HideString(d.Message)
	s.log("could not review", "session_id", s.id, "reason", d.Message)
	s.console.say("[SUPERVISOR] %s", d.Message)
	return d
}

func unavailable(err error) Decision {
	return Decision{Status: Unavailable, Message: "the work was not reviewed: " + err.Error()}
}

// log writes to the log. One that cannot be written changes no decision.
func (s *session) log(what string, pairs ...any) {
	if err := s.dir.Log(s.now(), what, pairs...); err != nil {
		s.console.say("warning: %v", err)
	}
}

// warn tells of what is wrong and changes no decision.
func (s *session) warn(err error) {
	s.log("warning", "session_id", s.id, "reason", err.Error())
	s.console.say("warning: %v", err)
}

// excerpt is what the log keeps of a long text.
func excerpt(text string) string { return plain.Clip(text, 300) }
