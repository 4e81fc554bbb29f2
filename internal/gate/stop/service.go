package stop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/lifecycle"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/gate/supervisor"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Service answers hook calls.
type Service struct {
	StateDir     string
	GlobalConfig string
	Keepers      []keeper.Keeper
	Supervisor   *supervisor.Keeper // one of the keepers, for when it is called alone
	Lifecycle    *lifecycle.Keeper  // as well; nil: nobody looks after agents
	Driver       *driver.Driver     // nil: nobody sees to queues and wakes
	// Imposed are variables that the project's settings set for us, which are not taken from there.
	Imposed     []string
	Environ     []string
	HookTimeout time.Duration // what the installed entry carries; 0: nothing
	Caller      string        // the entry that calls, as far as it can be told from others; empty: not known
	Now         func() time.Time
	Stderr      io.Writer
}

// Reply is what the hook's process does: print, complain, exit.
type Reply struct {
	Stdout []byte
	Stderr string
	Code   int
}

// Handle answers one call. Whatever breaks, the reply is one Claude Code
// understands, and it never blocks by accident.
func (s *Service) Handle(ctx context.Context, want hook.Event, stdin io.Reader) (reply Reply) {
	if claude.Inside(s.Environ) {
		return Reply{}
	}
	defer recovered(s.logf, "panic", func(r any) {
		reply = Telling(fmt.Sprintf("stopgate: internal error, nothing was checked: %v", r))
	})

	call := s.newCall()
	raw, err := hook.Read(stdin, hook.ReadPatience)
	if err != nil {
		return call.reject(want, err)
	}
	payload, err := hook.Decode(raw, want)
	if err != nil {
		return call.reject(want, err)
	}
	return call.answer(ctx, payload, raw)
}

// Telling is the reply that only tells a person something.
func Telling(message string) Reply { return Reply{Stdout: hook.Answer{}.Tell(message).Bytes()} }

// recovered is deferred by what may panic: it logs the panic, and then does what follows
// from it.
func recovered(log func(format string, args ...any), what string, then func(r any)) {
	if r := recover(); r != nil {
		log("%s: %v\n%s", what, r, debug.Stack())
		then(r)
	}
}

// call is one hook call on its way.
type call struct {
	*Service
	global     *config.Global
	globalErr  error
	journal    *journal.Journal
	id         string
	start      time.Time
	received   journal.Position // behind the record of it
	answered   journal.Position // behind that of its answer
	journalErr error
	passed     []string // where the project was looked for
	read       reading  // of the session's transcript, at this call
	led        []string // other projects to which its commands led
	nowhere    bool     // it works in no project
}

// Journal is the journal of a state directory, for those who write it: it keeps as much
// as the person wants.
func Journal(stateDir string, global *config.Global) *journal.Journal {
	return journal.New(journalDir(stateDir), journal.Limits{MaxAge: global.Journal.MaxAge, MaxSize: global.Journal.MaxSize})
}

func journalDir(stateDir string) string { return filepath.Join(stateDir, "journal") }

func (s *Service) newCall() *call {
	global, globalErr := trust.LoadGlobal(s.GlobalConfig, s.StateDir) // what it cannot read is at its default
	if settings.IsOurPlugin(claude.PluginRoot(s.Environ)) {
		trust.EnforceUnlessDecided(global, s.GlobalConfig)
	}
	return &call{
		Service:   s,
		global:    global,
		globalErr: globalErr,
		journal:   Journal(s.StateDir, global),
		id:        journal.NewID(),
		start:     s.Now(),
	}
}

// reject refuses a payload: Claude Code shows the text and goes on.
func (c *call) reject(want hook.Event, err error) Reply {
	if invalid, ok := errors.AsType[*hook.PayloadError](err); ok && want == "" {
		want = invalid.Event
	}
	rec := event.Record{Event: word(string(want))}
	c.write(rec, event.Received)
	rec.Decision = "reject"
	rec.Verdicts = []event.Verdict{{Keeper: "protocol", Outcome: keeper.CouldNotRun.String(), Status: "invalid_payload", Message: err.Error()}}
	c.write(rec, event.Answered)
	return Reply{Stderr: "stopgate: " + err.Error(), Code: 1}
}

// answer follows the session, judges the call, lets go on what may, and says how it went.
func (c *call) answer(ctx context.Context, payload hook.Payload, raw []byte) Reply {
	rec := c.receive(payload, raw)
	session := c.follow(ctx, payload, rec.Project)
	turn, busy := c.takeTurn(ctx, payload, raw, session)
	defer turn.end()
	earlier, found := turn.adopted(c.start, c.Now())
	if found && !earlier.outdated(c.start) {
		return c.adopt(rec, earlier)
	}

	kc, place := c.look(ctx, payload, rec.Project, session)
	kc.Raw = raw
	judgement := c.decide(ctx, kc, place, busy)
	if found && judgement.sure() { // it still holds, and the other call has done what follows
		return c.adopt(rec, earlier)
	}
	answer := compose(payload.Event(), place, judgement)
	note(&rec, place, judgement)
	c.settle(ctx, kc, rec.Project, session, judgement)
	if judgement.Blocked < 0 && !busy && !found { // else the other call's answer decides what goes on
		answer = c.goOn(ctx, kc, place, session, judgement, answer, &rec)
	}

	c.write(rec, event.Answered)
	c.tell(payload, place.Root, judgement)
	if payload.Event() == hook.SessionEnd {
		c.forget(payload.Common().SessionID)
	}
	if c.journalErr != nil && loud(payload.Event()) {
		answer = answer.Tell("stopgate: " + c.journalErr.Error())
	}
	turn.keep(rec.Decision, answer.Bytes(), c.answered, c.Now())
	return Reply{Stdout: answer.Bytes()}
}

// receive writes down that the call has come.
func (c *call) receive(payload hook.Payload, raw []byte) event.Record {
	rec := record(payload, c.start)
	rec.Pane = c.getenv("TMUX_PANE")
	rec.Project = c.root(payload)
	rec.PromptHash = c.promptHash(payload)
	if c.global.Journal.Payloads {
		rec.Payload = raw
	}
	c.write(rec, event.Received)
	rec.Payload = nil
	return rec
}

// look finds the place of the call and the trees that it is judged in, as keepers see them.
func (c *call) look(ctx context.Context, payload hook.Payload, root string, session *footprint.Session) (*keeper.Call, Place) {
	place := c.locate(root, payload)
	if len(c.Imposed) > 0 {
		place.Verdicts = append(place.Verdicts, imposed(c.Imposed))
	}
	kc := c.keeperCall(payload, place)
	kc.Trees, kc.Prompt = c.trees(ctx, &place, payload, session), session.Prompt()
	if session != nil {
		kc.Origin, kc.Prompted = session.Origin, session.Prompts > 0
		kc.OnlyReads = sync.OnceValue(func() bool { return c.onlyReads(ctx, payload, session, kc.Trees) })
	}
	return kc, place
}

// decide has the call judged. busy means that another call judges the same stop, and there
// is no time left to wait for it.
func (c *call) decide(ctx context.Context, kc *keeper.Call, place Place, busy bool) (j Judgement) {
	if busy {
		j = c.outwaited(ctx, kc)
	} else {
		c.witness(kc)
		j = c.judge(ctx, kc, place.Off)
	}
	j.hold(c.held(place))
	return j
}

// held is what holds the agent back although no keeper may look.
func (c *call) held(place Place) *keeper.Verdict {
	if place.Held == nil || !c.global.Observes(nil) {
		return place.Held
	}
	observed := place.Held.Observed()
	return &observed
}

// note puts the judgement into the record.
func note(rec *event.Record, place Place, j Judgement) {
	rec.Decision = "allow"
	blocked := -1
	if j.Blocked >= 0 {
		rec.Decision = "block"
		blocked = len(place.Verdicts) + j.Blocked
	}
	rec.Verdicts = verdicts(append(place.Verdicts, j.Verdicts...), blocked)
	rec.Trees = j.trees()
}

// forget removes what is kept of the session that has ended, and of those that have been
// silent for a month.
func (c *call) forget(session string) {
	NewCounter(c.StateDir).Forget(session, c.Now())
	footprint.NewStore(c.StateDir).Prune(c.Now())
	pruneAnswers(c.StateDir, c.Now())
	protect.Prune(c.StateDir, c.Now())
	gauntlet.PruneLogs(c.StateDir, c.Now())
}

// imposed says that stopgate goes by the person's own environment.
func imposed(names []string) keeper.Verdict {
	return keeper.Verdict{Keeper: "settings", Outcome: keeper.Passed, Status: "imposed", Message: fmt.Sprintf(
		"the project's settings for Claude Code set %s; stopgate ignores that in a project", strings.Join(names, ", "))}
}

// keeperCall is the call as keepers see it.
func (c *call) keeperCall(payload hook.Payload, place Place) *keeper.Call {
	return &keeper.Call{
		Payload: payload, Env: c.Environ, Global: c.global, Project: place.Project,
		ID: c.id, Journal: c.journal, Received: c.received,
	}
}

// judge asks the keepers. Where the person has switched them off, those that look at trees
// still hold the agent to what it did in other projects.
func (c *call) judge(ctx context.Context, kc *keeper.Call, off bool) Judgement {
	keepers := c.applying(kc)
	if off {
		ofTrees := []string{gauntlet.Keeper{}.Name(), protect.Name}
		keepers = slices.DeleteFunc(keepers, func(k keeper.Keeper) bool { return !slices.Contains(ofTrees, k.Name()) })
	}
	if len(keepers) == 0 {
		return Judgement{Blocked: -1}
	}
	timeout := c.timeout(kc.Payload, kc.Project)
	if timeout < c.HookTimeout {
		kc.Shortened = timeout
	}
	ctx, cancel := c.limit(ctx, timeout)
	defer cancel()
	chain := Chain{
		Keepers: keepers,
		Counter: NewCounter(c.StateDir),
		Cap:     c.blockCap(),
		Grace:   grace(timeout),
		Now:     c.Now,
		Log:     c.logf,
	}
	return chain.Judge(ctx, kc)
}

// witness lets those keepers see the call that follow sessions. One that panics
// keeps nobody from judging.
func (c *call) witness(kc *keeper.Call) {
	defer recovered(c.logf, "a witness panicked", func(any) {})
	for _, k := range c.Keepers {
		if w, ok := k.(keeper.Witness); ok {
			w.Witness(kc)
		}
	}
}

// timeout is how long Claude Code waits for the answer.
func (c *call) timeout(payload hook.Payload, project *keeper.Project) time.Duration {
	return settings.Timeout(payload.Event(), c.HookTimeout, c.claudeDirs(payload, project)...)
}

// left is how much of the time for a call with that timeout is left.
func (c *call) left(timeout time.Duration) time.Duration {
	return Budget(timeout) - c.Now().Sub(c.start)
}

// limit ends a context before Claude Code would end us, and when it does: what we
// started must end with us. A signal that Claude Code ignores, as under nohup, ends
// neither.
func (c *call) limit(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, c.left(timeout))
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP}
	ctx, restore := signal.NotifyContext(ctx, slices.DeleteFunc(signals, signal.Ignored)...)
	return ctx, func() { restore(); cancel() }
}

// claudeDirs are where Claude Code may have taken its settings from: where it was
// started and, since 2.1.211, the top of the main worktree; neither need be the project
// of this call.
func (c *call) claudeDirs(payload hook.Payload, project *keeper.Project) []string {
	root := payload.Common().CWD
	if project != nil {
		root = project.Root
	}
	dirs := []string{root, c.getenv("CLAUDE_PROJECT_DIR")}
	if top, found := paths.MainWorktree(root); found {
		dirs = append(dirs, top)
	}
	return dirs
}

// applying lists the keepers whose business the call is.
func (c *call) applying(kc *keeper.Call) []keeper.Keeper {
	var out []keeper.Keeper
	for _, k := range c.Keepers {
		if k.Applies(kc) {
			out = append(out, k)
		}
	}
	return out
}

func (c *call) promptHash(payload hook.Payload) string {
	p, ok := payload.(*hook.UserPromptSubmitPayload)
	if !ok {
		return ""
	}
	key, err := c.journal.Key()
	if err != nil {
		c.logf("journal key: %v", err)
		return ""
	}
	return journal.PromptHash(key, p.Prompt)
}

// write appends to the journal. A journal that cannot be written does not keep
// the project's gates from being enforced; it is told at the end.
func (c *call) write(rec event.Record, kind event.Kind) {
	rec.Call, rec.Kind = c.id, kind
	if kind == event.Answered {
		rec.DurationMS = c.Now().Sub(c.start).Milliseconds()
	}
	at, err := c.journal.Append(&rec)
	if err != nil {
		c.journalErr = err
		c.logf("%v", err)
	}
	switch kind {
	case event.Received:
		c.received = at
	case event.Answered:
		c.answered = at
	}
}

func (s *Service) logf(format string, args ...any) {
	fmt.Fprintf(s.Stderr, "stopgate: "+format+"\n", args...)
}

func (s *Service) getenv(name string) string { return environ.Get(s.Environ, name) }
