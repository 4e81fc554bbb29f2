//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	stopgate "github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/test/claudeapi"
)

// agentStops measures what it adds to a stop that the daemon is asked whether the agent has
// signalled: against a client of nobody in the same project.
func agentStops(ctx context.Context, l *lab, r *report) error {
	const limit, rounds = 2, 300
	m, err := l.managed(ctx, "agents", 10)
	if err != nil {
		return err
	}
	defer m.kill()
	plain := l.path("plain")
	if err := os.Mkdir(plain, 0o700); err != nil {
		return err
	}
	gated, err := l.repository(ctx, "gated", 100, map[string]string{
		".gauntlet/config.yml": "entry_points:\n  - path: .\n    checks:\n      - name: ok\n        command: \"true\"\nstop_hook:\n  run_interval_minutes: 0\n",
	})
	if err != nil {
		return err
	}
	if err := change(gated, 10); err != nil {
		return err
	}
	if err := m.signal(ctx, l); err != nil {
		return err
	}
	hooks := []*agentStop{
		m.agentStop(l, plain, ""), m.agentStop(l, plain, m.agents[0]),
		m.agentStop(l, gated, ""), m.agentStop(l, gated, m.agents[0]),
	}
	if err := settle(ctx); err != nil {
		return err
	}
	s, err := l.race(ctx, rounds, hooks[0].program, hooks[1].program, hooks[2].program, hooks[3].program)
	if err != nil {
		return err
	}
	if err := m.asked(2 * (warmUp + rounds)); err != nil {
		return err
	}
	r.table("**A stop of an agent that has signalled**, against one of a client of nobody, in the same project")
	r.reference("stopgate hook Stop, nothing to enforce", &s[0])
	r.row("the same, of an agent", &s[1], figure{s[1].ratioTo(&s[0]), "times nobody's", limit})
	r.reference("stopgate hook Stop, a gate that has passed", &s[2])
	r.row("the same, of an agent", &s[3], figure{s[3].ratioTo(&s[2]), "times nobody's", limit})
	return nil
}

// agentStop is a stop in a project, of an agent or of nobody.
type agentStop struct {
	program
	prompt int
}

func (m *managed) agentStop(l *lab, dir, agent string) *agentStop {
	name := filepath.Base(dir) + agent
	h := &agentStop{program: program{
		name: name, dir: dir, stdin: l.path(name + ".json"), piped: true, args: []string{l.stopgate, "hook", "Stop"},
		env: []string{"STOPGATE_STATE_DIR=" + m.state},
	}}
	session := "nobody"
	if agent != "" {
		session = agent
		h.env = append(h.env, "STOPGATE_AGENT_ID="+agent, "OJ_AGENT_ID="+agent)
	}
	h.before = func(context.Context) error {
		h.prompt++
		return write(h.stdin, fmt.Sprintf(`{"session_id":%q,"prompt_id":"%s-%d","transcript_path":"%[4]s/t.jsonl","cwd":"%[4]s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"Done."}`,
			session, name, h.prompt, dir))
	}
	return h
}

// signal has the first agent say that a person is needed: that is a signal, and does not end
// its work.
func (m *managed) signal(ctx context.Context, l *lab) error {
	own, err := agentdir.At(m.state, m.agents[0])
	if err != nil {
		return err
	}
	err = errors.Join(own.WriteConfig("signal"), own.SetSession(agentdir.Session{ID: m.agents[0]}))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, l.stopgate, "emit", "agent:signal", "--agent", m.agents[0], "escalate")
	cmd.Env = append(slices.Clone(l.env), "STOPGATE_STATE_DIR="+m.state)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return until(ctx, "the signal is heard", func() bool {
		s, err := m.Signal(ctx, m.agents[0], journal.Position{})
		return err == nil && s.Signaled
	})
}

// asked fails unless the daemon was asked in so many stops.
func (m *managed) asked(want int) error {
	got := 0
	for e, err := range m.journal.Read(journal.Position{}) {
		if err != nil {
			return err
		}
		r := e.Record
		if r.Kind == event.Answered && slices.ContainsFunc(r.Verdicts, func(v event.Verdict) bool { return v.Keeper == "lifecycle" && v.Status == "signaled" }) {
			got++
		}
	}
	if got != want {
		return fmt.Errorf("the daemon was asked in %d stops, want %d", got, want)
	}
	return nil
}

// clientVariable names the real client.
const clientVariable = "BENCH_CLIENT"

// agentStarts measures how long it takes from the wish to start an agent to its client's
// SessionStart, against starting the client by hand in tmux.
func agentStarts(ctx context.Context, l *lab, r *report) error {
	const rounds = 10
	s, err := l.newStarts(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := settle(ctx); err != nil {
		return err
	}
	m, err := turns(rounds, 2, func(i int) (time.Duration, float64, error) {
		took, err := []func(context.Context) (time.Duration, error){s.byHand, s.byDaemon}[i](ctx)
		return took, 0, err
	})
	if err != nil {
		return err
	}
	r.table("**Starting an agent** with the real client, until its SessionStart")
	r.reference("tmux new-session claude", &m[0])
	r.row("the daemon is asked to start it", &m[1], figure{m[1].ratioTo(&m[0]), "times by hand", 0})
	return nil
}

// starts are a project, in which clients say when they have started, and a daemon.
type starts struct {
	*stage
	daemon  *stopgate.Client
	process *exec.Cmd
	project string
	said    string // a directory with a file for each start
	n       int
}

func (l *lab) newStarts(ctx context.Context) (s *starts, err error) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		return nil, err
	}
	client := os.Getenv(clientVariable)
	if client == "" {
		return nil, errors.New(clientVariable + " does not name the client")
	}
	api := claudeapi.New(forever{})
	api.Script(claudeapi.Always(claudeapi.Text("Hello.")))
	here := *l // with the client's environment, and tmux beside it
	here.other = tmux
	here.env = append(slices.Clone(l.env), "ANTHROPIC_API_KEY="+apiKey, "ANTHROPIC_BASE_URL="+api.URL,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1")
	s = &starts{said: l.path("said")}
	if s.project, err = l.repository(ctx, "started", 10, map[string]string{
		".gauntlet/runbooks/bench.toml": fmt.Sprintf("[command.start]\nrun = { agent = \"a\" }\n\n[agent.a]\nrun = %q\nprompt = \"hi\"\n", client),
		".claude/settings.json":         fmt.Sprintf(`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch %s/$$"}]}]}}`, s.said),
	}); err != nil {
		return nil, err
	}
	if err := errors.Join(os.Mkdir(s.said, 0o700), here.seedClient(api.URL, s.project)); err != nil {
		return nil, err
	}
	if s.stage, err = here.newStage(ctx); err != nil {
		return nil, err
	}
	if err := s.wake(ctx, l.other); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// wake starts the real daemon.
func (s *starts) wake(ctx context.Context, stopgated string) error {
	state, err := s.state("starts")
	if err != nil {
		return err
	}
	s.daemon = stopgate.New(filepath.Join(state, "daemon.sock"), "bench")
	s.process = exec.CommandContext(ctx, stopgated, "daemon")
	s.process.Env = append(slices.Clone(s.env), "STOPGATE_STATE_DIR="+state)
	if err := s.process.Start(); err != nil {
		return err
	}
	return until(ctx, "the daemon is ready", func() bool {
		_, err := s.daemon.Status(ctx)
		return err == nil
	})
}

func (s *starts) close() {
	if s.daemon != nil {
		_ = s.daemon.Stop(context.Background(), true) // it may never have been ready
		_ = s.process.Wait()
	}
	s.stage.close()
}

// started waits for one more client to say that it has.
func (s *starts) started(ctx context.Context, begun time.Time) (took time.Duration, err error) {
	s.n++
	err = until(ctx, "the client has started", func() bool {
		said, _ := os.ReadDir(s.said)
		took = time.Since(begun)
		return len(said) >= s.n
	})
	return took, err
}

// byHand is what a person would type.
func (s *starts) byHand(ctx context.Context) (time.Duration, error) {
	begun := time.Now()
	digits, err := s.tmux(ctx, "new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", "client", "-x", "160", "-y", "50", "-c", s.project, "--",
		os.Getenv(clientVariable), "--", "hi")
	if err != nil {
		return 0, err
	}
	took, err := s.started(ctx, begun)
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(digits)
	if err != nil {
		return 0, err
	}
	if _, err := s.tmux(ctx, "kill-session", "-t", "=client"); err != nil {
		return 0, err
	}
	// It would slow the next one down.
	return took, until(ctx, "the client has ended", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
}

func (s *starts) byDaemon(ctx context.Context) (time.Duration, error) {
	id := stopgate.NewID()
	begun := time.Now()
	o, err := s.daemon.Start(ctx, stopgate.Start{ID: id, Project: s.project, Cwd: s.project, Command: "start"})
	if err != nil {
		return 0, err
	}
	took, err := s.started(ctx, begun)
	if err != nil {
		return 0, err
	}
	if _, err := s.daemon.Cancel(ctx, id, stopgate.Cancel{ID: stopgate.NewID()}); err != nil {
		return 0, err
	}
	return took, until(ctx, "the client has ended", func() bool { return !errand.Runs(s.path("starts/errands/" + o.Agent.ID)) })
}
