package send

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func(args []string) error{"send": sendChild})
}

// sendChild is a sender of its own, with the directories as arguments. It waits a
// little only, as we have not the time for more.
func sendChild(args []string) error {
	s := Sender{StateDir: args[0], ConfigDir: args[1], Environ: os.Environ(), look: time.Millisecond}
	s.wait = func(ctx context.Context, d time.Duration) error { return pause.For(ctx, min(d, time.Millisecond)) }
	return s.Run(context.Background())
}

// patience only bounds a test that fails; nothing waits this long.
const patience = 3 * time.Minute

var eventually = checktest.Eventually

// office is a state and a config directory, a sender for them, and its clock: waiting
// takes no time and sets the clock forward.
type office struct {
	Sender
	t *testing.T

	mu     sync.Mutex
	clock  time.Time
	waits  []time.Duration
	onWait func(n int) // after the n-th wait that took time; may be nil
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newOffice(t *testing.T, gateway string) *office {
	o := &office{t: t, clock: noon}
	o.Sender = Sender{
		StateDir:  t.TempDir(),
		ConfigDir: t.TempDir(),
		Environ:   []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GATEWAY_TOKEN=tok-3f9a-secret"},
		UserAgent: "stopgate/test",
		now: func() time.Time {
			o.mu.Lock()
			defer o.mu.Unlock()
			return o.clock
		},
		wait: o.pass,
	}
	o.setDefaults()
	o.register(gateway)
	return o
}

// pass lets time pass.
func (o *office) pass(ctx context.Context, d time.Duration) error {
	if d > 0 {
		o.mu.Lock()
		o.clock = o.clock.Add(d)
		o.waits = append(o.waits, d)
		n := len(o.waits)
		o.mu.Unlock()
		if o.onWait != nil {
			o.onWait(n)
		}
	}
	return ctx.Err()
}

// register writes a registry with two agents that have the same gateway.
func (o *office) register(gateway string) {
	o.t.Helper()
	text := fmt.Sprintf(`{"agents":[
		{"agent_id":"warden","session_name":"warden-main","openclaw_session_id":"sid-1","gateway":%[1]s},
		{"agent_id":"gideon","session_name":"gideon-*","gateway":%[1]s}]}`, gateway)
	check(o.t, os.WriteFile(registry.Path(o.ConfigDir), []byte(text), 0o600))
}

// letter is the n-th letter to the warden.
func letter(n int) wake.Letter {
	said := fmt.Sprintf("message %d", n)
	l := wake.Letter{
		Key: fmt.Sprintf("key-%d", n), Kind: wake.Stop, Event: "Stop", Session: "warden-main", AgentID: "warden",
		Time: noon, LastAssistantMessage: &said, SuggestedCommands: []string{"/clear"},
	}
	l.Body = wake.Compose(l, "do something")
	return l
}

func (o *office) put(letters ...wake.Letter) {
	o.t.Helper()
	for _, l := range letters {
		check(o.t, o.outbox().Put(l))
	}
}

func letters(n int) []wake.Letter {
	all := make([]wake.Letter, n)
	for i := range all {
		all[i] = letter(i + 1)
	}
	return all
}

// run runs the sender to its end.
func (o *office) run() {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), patience)
	defer cancel()
	check(o.t, o.Run(ctx))
	if ctx.Err() != nil {
		o.t.Fatal("the sender did not come to an end")
	}
}

// try tries the first letter once. It returns the wait until the next try, and why the
// letter is dead, if it is.
func (o *office) try() (wait time.Duration, reason, dead string) {
	o.t.Helper()
	box := o.outbox().Box("warden")
	l, found, err := box.Next()
	if err != nil || !found {
		o.t.Fatalf("no letter to try: %v", err)
	}
	c := carrier{Sender: o.Sender, box: box}
	state, err := box.State()
	check(o.t, err)
	check(o.t, c.send(o.t.Context(), l, state))
	state, err = box.State()
	check(o.t, err)
	if all := o.dead(); len(all) > 0 {
		return 0, "", all[0].Why
	}
	if state.Tries == 0 {
		return 0, "", ""
	}
	return state.NextTry.Sub(o.now()), state.LastError, ""
}

func (o *office) dead() []wake.DeadLetter {
	o.t.Helper()
	summary, err := o.outbox().Summary()
	check(o.t, err)
	var dead []wake.DeadLetter
	for _, agent := range summary {
		dead = append(dead, agent.Dead...)
	}
	return dead
}

// logged is the sender's log.
func (o *office) logged() string {
	text, _ := os.ReadFile(filepath.Join(o.StateDir, "logs", "wake.log"))
	return string(text)
}

// wantNoSecret looks for a secret in all that the sender has written.
func (o *office) wantNoSecret(secret string) {
	o.t.Helper()
	err := filepath.WalkDir(o.StateDir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			o.t.Errorf("%s holds the secret:\n%s", path, text)
		}
		return err
	})
	if err != nil {
		o.t.Error(err)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	check(t, err)
	return string(text)
}
