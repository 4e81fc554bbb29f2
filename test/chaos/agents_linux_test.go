package chaos

import (
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
	"github.com/stopgate/stopgate/test/chaos/client"
)

// The runbook of clients has a command for each kind.
//
//go:embed testdata/agents.toml
var agentsText string

// crowdSize is how much chaos there is among clients.
type crowdSize struct {
	at                      int // once, so many of them run
	daemons, clients, panes int // killed
	pause                   time.Duration
	work                    string
	timeout                 time.Duration
}

func crowdOfRun() crowdSize {
	switch {
	case os.Getenv("STOPGATE_FULL") == "":
		return crowdSize{at: 6, daemons: 4, clients: 4, panes: 2, pause: 300 * time.Millisecond, work: "300ms", timeout: 2 * time.Minute}
	case os.Getenv("CHAOS_CLIENT") == "":
		return crowdSize{at: 20, daemons: 60, clients: 60, panes: 30, pause: 400 * time.Millisecond, work: "1s", timeout: 15 * time.Minute}
	}
	return crowdSize{at: 20, daemons: 30, clients: 30, panes: 15, pause: 4 * time.Second, work: "1s", timeout: 40 * time.Minute}
}

// agentKind is a kind of owner whose agent is a client, and how it ends, whoever is killed
// meanwhile.
type agentKind struct {
	name, end string
}

func agentKinds() []agentKind {
	return []agentKind{
		{"signals", "done: agent completed, after completed"},
		{"held", "done: agent completed"},
		{"nudged", "done: agent completed, after completed"},
		{"gated", "done: agent completed"},
		{"asks", "done: agent completed"},
		{"alone", "done: run completed"},
		{"left", "waiting: run waiting"},
	}
}

// Clients, what runs them, their tmux server and the daemon are killed. Everything ends
// as it should or waits for a person; nobody is told anything twice; and in the end
// nothing is left. The clients are stand-ins; CHAOS_CLIENT names a real one.
func TestChaosAgents(t *testing.T) {
	environtest.Need(t, "tmux")
	n, s := crowdOfRun(), seedtest.Seed(t)
	t.Logf("%d clients at once", n.at)
	c := newCrowd(t, s, n)
	ctx, cancel := context.WithTimeout(t.Context(), n.timeout)
	defer cancel()
	c.storm(ctx, n)
	if t.Failed() {
		c.describe()
		t.FailNow()
	}
	c.settle(ctx)
	c.leave(ctx)
	a := newCrowdAudit(c)
	a.all()
	t.Logf("%d owners, %d events; killed: the daemon %d times, %d clients, %d of what runs them, tmux once; decisions %v\n%s",
		len(c.owners), a.Events, len(c.kills), c.hit["client"], c.hit["pane"], a.Decisions, a.table())
}

// crowd is owners whose agents are clients, and a person who answers for them.
type crowd struct {
	*testing.T
	*keeper
	rng *rand.Rand // of whoever kills
	ids *rand.Rand

	mu      sync.Mutex
	owners  map[string]agentKind
	hit     map[string]int
	shot    map[string]bool // agents whose client, or what runs it, was killed
	counted time.Time       // when we began to count who was on the tmux server
	razed   time.Time       // when that was killed
}

func newCrowd(t *testing.T, seed uint64, n crowdSize) *crowd {
	t.Helper()
	bin := build(t)
	check(t, os.Symlink("standin", filepath.Join(bin, "standin-model")))
	p := newPlace(t, bin, agentsText, strconv.FormatUint(seed, 10), n.work)
	p.write(t, filepath.Join(p.root, ".claude", "settings.json"), client.Settings)
	p.env = append(p.env, "STANDIN_IDLE=3s")
	if real := os.Getenv("CHAOS_CLIENT"); real != "" {
		p.useReal(t, real)
	}
	c := &crowd{
		T: t, keeper: newKeeper(p, rand.New(rand.NewPCG(seed, 3))), rng: rand.New(rand.NewPCG(seed, 1)), ids: rand.New(rand.NewPCG(seed, 2)),
		owners: map[string]agentKind{}, hit: map[string]int{}, shot: map[string]bool{},
	}
	_, err := c.start()
	check(t, err)
	t.Cleanup(c.end)
	t.Cleanup(func() { _ = c.tmux("kill-server").Run() }) // of a test that failed
	return c
}

func (c *crowd) tmux(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(c.state, "tmux.sock"), "-f", "/dev/null"}, args...)...)
	cmd.Env = c.env
	return cmd
}

// storm keeps so many owners running until everybody is killed who is to be.
func (c *crowd) storm(ctx context.Context, n crowdSize) {
	over := make(chan struct{})
	var all sync.WaitGroup
	for i := range n.at {
		all.Go(func() { c.oneByOne(ctx, i, over) })
	}
	answered, cancel := context.WithCancel(ctx)
	var person sync.WaitGroup
	person.Go(func() { c.answerAll(answered) })
	if err := c.killers(n).killAll(ctx); err != nil {
		c.Error(err)
	}
	close(over)
	all.Wait()
	cancel()
	person.Wait()
}

// oneByOne runs owners of all kinds, one after the other. What waits for nobody is left as
// it is, and its place is taken by the next one.
func (c *crowd) oneByOne(ctx context.Context, first int, over <-chan struct{}) {
	kinds := agentKinds()
	for i := first; ctx.Err() == nil; i++ {
		if err := c.live(ctx, kinds[i%len(kinds)]); err != nil {
			c.Error(err)
			return
		}
		select {
		case <-over:
			return
		default:
		}
	}
}

func (c *crowd) newID(k agentKind) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], c.ids.Uint64())
	id := hex.EncodeToString(b[:])
	c.owners[id] = k
	return id
}

// live has an owner come to its end.
func (c *crowd) live(ctx context.Context, k agentKind) error {
	id := c.newID(k)
	start := daemonapi.Start{ID: id, Project: c.root, Cwd: c.root, Command: k.name}
	err := c.ask(ctx, func() error {
		_, err := c.client.Start(ctx, start)
		return err
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", k.name, err)
	}
	status, _, _ := strings.Cut(k.end, ":")
	for {
		o, err := c.owner(ctx, id)
		if err != nil {
			return fmt.Errorf("%s %s: %w", k.name, id, err)
		}
		if o.Status == status || o.Status == "failed" || o.Status == "cancelled" {
			return nil
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("%s %s is %s in %s: %w", k.name, id, o.Status, o.Step, err)
		}
	}
}

func (c *crowd) owner(ctx context.Context, id string) (o daemonapi.Owner, err error) {
	err = c.ask(ctx, func() (err error) {
		o, err = c.client.Owner(ctx, id)
		return err
	})
	return o, err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answerAll answers what is asked, again and again. An answer that comes too late is
// refused, and what is asked then is answered next.
func (c *crowd) answerAll(ctx context.Context) {
	for sleep(ctx, 100*time.Millisecond) == nil {
		var open []daemonapi.Decision
		err := c.ask(ctx, func() (err error) {
			open, err = c.client.Decisions(ctx, false)
			return err
		})
		for _, d := range open {
			if answer, does := c.reply(d); does && err == nil {
				err = c.ask(ctx, func() error {
					_, err := c.client.Answer(ctx, d.ID, answer)
					return err
				})
			}
			var refused *daemonapi.Error
			if errors.As(err, &refused) && (refused.Code == "conflict" || refused.Code == "not_found") {
				err = nil
			}
		}
		if err != nil && ctx.Err() == nil {
			c.Errorf("a person could not answer: %v", err)
			return
		}
	}
}

// reply is what a person answers: words that nobody has said before, where words are
// wanted.
func (c *crowd) reply(d daemonapi.Decision) (daemonapi.Answer, bool) {
	c.mu.Lock()
	kind := c.owners[d.Owner]
	c.mu.Unlock()
	if kind.name == "left" {
		return daemonapi.Answer{}, false
	}
	answer := daemonapi.Answer{ID: d.ID}
	switch d.Source {
	case "question":
		answer.Answers = []string{"Blue"}
	case "idle", "stop", "signal", "prompt":
		answer.Message = "[complete] says the person, " + d.ID
	default:
		answer.Option = "retry"
	}
	return answer, true
}

// settle sees that each owner is where it should be.
func (c *crowd) settle(ctx context.Context) {
	for _, id := range c.sorted() {
		k := c.owners[id]
		o, err := c.owner(ctx, id)
		if err != nil {
			c.Error(err)
			continue
		}
		if got := ending(o); got != k.end || (o.Decision == nil) != (o.Status != "waiting") {
			c.Errorf("%s %s: %s; want %s (%s)", k.name, id, got, k.end, o.Error)
		}
	}
	status, err := c.client.Status(ctx)
	if err != nil || len(status.Trouble) > 0 {
		c.Errorf("%+v, %v", status, err)
	}
}

func (c *crowd) sorted() (ids []string) {
	for id := range c.owners {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// leftovers are the processes that have not ended. What watches over queues ends by itself, soon
// after the last of them.
func (c *crowd) leftovers(ctx context.Context) []string {
	watcher := func(process string) bool { return strings.Contains(process, " queue watch") }
	for {
		left := c.processes()
		if !slices.ContainsFunc(left, watcher) || len(slices.DeleteFunc(slices.Clone(left), watcher)) > 0 || ctx.Err() != nil {
			return left
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// leave ends the daemon, and what it started.
func (c *crowd) leave(ctx context.Context) {
	cmd := exec.Command(filepath.Join(c.bin, "stopgate"), "daemon", "stop", "--kill")
	cmd.Env = c.env
	if out, err := cmd.CombinedOutput(); err != nil {
		c.Errorf("%v: %v\n%s", cmd, err, out)
	}
	select {
	case <-c.now.ended:
	case <-ctx.Done():
		c.Error("the daemon has not ended")
	}
	if left := c.leftovers(ctx); len(left) > 0 {
		c.Errorf("after %v there run:\n%s", cmd, strings.Join(left, "\n"))
	}
	if out, err := c.tmux("list-sessions").CombinedOutput(); err == nil {
		c.Errorf("the tmux server still runs: %s", out)
	}
}

// describe tells what whoever failed was about.
func (c *crowd) describe() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, id := range c.sorted() {
		o, err := c.client.Owner(ctx, id)
		if err == nil && (o.Status == "running" || o.Status == "waiting") && c.owners[id].name != "left" {
			c.Logf("%s %s: %s, agent %+v, decision %+v", o.Command, id, ending(o), o.Agent, o.Decision)
		}
	}
}
