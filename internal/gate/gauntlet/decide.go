package gauntlet

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
)

// Stop is an agent that is about to stop in a project, and how its gates would run.
type Stop struct {
	Options
	// Active means that a block of ours led to this stop.
	Active bool
	// Shortened is as in keeper.Call.
	Shortened time.Duration
	// Alone means that the older tool's hook is asked, with its own defaults.
	Alone bool
	// Log gets a line for standard error.
	Log func(format string, args ...any)
}

// settings is what holds for the stop hook here.
func (s *Stop) settings() config.StopHookSettings {
	defaults := config.HookDefaults
	if s.Alone {
		defaults = config.StopHookDefaults
	}
	return config.ResolveStopHook(s.Environ, s.Project.Config.Gauntlet.StopHook, s.Global.StopHook, defaults)
}

// observes reports whether nothing is blocked here.
func (s *Stop) observes() bool { return s.Global.Observes(s.Project.Config) }

// Verdict is what the chain and the journal are told of a run. The reason is for the agent,
// if the run blocks.
func (s *Stop) Verdict(r *Result) keeper.Verdict {
	v := Verdict(r)
	if !s.Alone {
		v.Summary = r.inOwnWords(v.Summary)
	}
	if r.Status.IsBlocking() {
		reason := Reason
		if s.Alone {
			reason = stopHookReason
		}
		v.Outcome, v.Reason = keeper.Failed, reason(r, s.settings().VerifyFixes)
	}
	if s.observes() {
		return v.Observed()
	}
	return v
}

// Cycle is the answer to a stop that follows a block, where nothing is verified.
func Cycle() Result {
	r := said(StopHookActive, "Stop hook cycle detected: this stop follows a block, so it is allowed, to prevent an infinite loop.")
	r.Unjudged = "verify_fixes is false, and this stop follows a block"
	return r
}

// Decide runs the gates if they are to run, and says how it went. Nothing but
// failed gates holds an agent back.
func Decide(ctx context.Context, s Stop) (result Result) {
	set := s.settings()
	if s.Active && (!set.VerifyFixes || s.Alone && !s.hasOpenFailures()) {
		return Cycle()
	}

	if !set.Enabled {
		r := said(StopHookDisabled, "The stop hook is disabled by configuration; no gate was run.")
		r.Unjudged = "stop_hook.enabled is false"
		if name, value, set := config.StopHookVariable(s.Environ); set {
			r.Unjudged = name + "=" + value
		}
		if s.hasOpenFailures() {
			r.Warnings = []string{"gates were failing here when the stop hook was disabled"}
		}
		return r
	}

	logs := logsOf(s.Project)
	debug := debugLog(logs, s.Project, s.Global, s.Now)
	defer func() { debug("STOP_HOOK decision=%s reason=%s", result.Status.decision(), result.Status) }()
	if s.Alone && !s.hasOpenFailures() {
		if owner, held, err := logs.Held(); err == nil && held {
			s.Log("gauntlet already running (%s)", owner)
			return locked(owner, logs.LockFile())
		}
	}

	if left := s.untilNextRun(logs, set.RunInterval); left > 0 {
		s.Log("run interval not elapsed, %s left", brief(left))
		r := said(IntervalNotElapsed, fmt.Sprintf("Gauntlet skipped: the run interval of %d min has not elapsed; %s remain until the next run.",
			int(set.RunInterval.Minutes()), brief(left)))
		r.Unjudged = fmt.Sprintf("run_interval_minutes, %s left", brief(left))
		return r
	}

	limit, ctx, cancel := s.limit(ctx, set.Deadline)
	defer cancel()
	o := s.Options
	o.Scope, o.Answers, o.Limit, o.Observe = s.scope(), true, limit, s.observes()
	if !s.Alone {
		o.Session = "" // the chain counts blocks by session itself
	}
	if len(set.Runner) > 0 {
		return runExternal(ctx, o, set.Runner)
	}
	return Execute(ctx, o)
}

// scope is what counts as changed. The older tool's hook counts commits alone where CI is
// set; an agent that stops there has worked in the tree, too.
func (s *Stop) scope() change.Scope {
	scope := ScopeOf(s.Environ)
	if s.Alone {
		scope.Before = "" // an agent has not pushed what CI got
		return scope
	}
	return change.Scope{Base: scope.Base}
}

// limit ends a context when the configuration says so, if that is before the hook's own
// time is over, and says which of them it is.
func (s *Stop) limit(ctx context.Context, deadline time.Duration) (Limit, context.Context, context.CancelFunc) {
	var hook time.Duration
	if at, set := ctx.Deadline(); set {
		hook = time.Until(at)
	}
	if deadline == 0 || hook > 0 && hook < deadline {
		return Limit{Time: hook, Shortened: s.Shortened}, ctx, func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	return Limit{Time: deadline, Configured: true}, ctx, cancel
}

func said(status Status, message string) Result { return Result{Status: status, Message: message} }

func locked(owner logdir.Owner, path string) Result {
	advice := ""
	if owner == (logdir.Owner{}) {
		advice = " If no run is in progress, remove " + path + "."
	}
	r := said(LockExists, fmt.Sprintf("A gauntlet run is already in progress (%s); nothing was checked this time.%s", owner, advice))
	r.spared = notJudged("another run was in progress")
	return r
}

// hasOpenFailures reports whether gates are known to fail here, or that cannot be known.
func (s *Stop) hasOpenFailures() bool {
	state, err := ledger.Open(s.StateDir, s.Project.Root).Read()
	return err != nil || len(state.Open) > 0 || state.Damaged
}

// untilNextRun is how long the interval still lasts. It never hides an open
// failure.
func (s *Stop) untilNextRun(logs logdir.Dir, interval time.Duration) time.Duration {
	if interval <= 0 {
		return 0
	}
	state, found := logs.ReadState()
	if !found || state.Partial {
		return 0
	}
	elapsed, known := state.Elapsed(s.Now())
	if !known || elapsed >= interval || s.hasOpenFailures() {
		return 0
	}
	return interval - elapsed
}

// brief is a length of time to the minute, or to the second below one.
func brief(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", max(1, int(d.Seconds())))
	}
	return fmt.Sprintf("%d min", int((d+time.Minute-1)/time.Minute))
}

// logsOf is a project's log directory.
func logsOf(p *keeper.Project) logdir.Dir {
	return logdir.At(logPath(p.Root, p.Config.Gauntlet.LogDir))
}

func logPath(root, logDir string) string { return filepath.Join(root, filepath.FromSlash(logDir)) }
