//go:build unix

package web

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/web"
)

// machines is a plane with the work of several machines, in all states that they can be in. What no page needs is not
// there: it panics.
type machines struct {
	web.Plane

	mu      sync.Mutex
	fleet   daemonapi.Fleet
	owners  []daemonapi.Owner
	refusal error
	answers []daemonapi.Answer
}

func newMachines() *machines {
	now := time.Now()
	since := now.Add(-3 * time.Hour)
	vps, desk := daemonapi.Away{Host: "vps", Heard: 1}, daemonapi.Away{Host: "desk", Heard: 251}
	ended := now.Add(-20 * time.Minute)
	decision := func(id, name, text string, away daemonapi.Away) *daemonapi.Decision {
		return &daemonapi.Decision{
			ID: strings.Repeat(id, 16), Owner: strings.Repeat(id, 16), Name: name, Project: "/home/ada/shop", Source: "approval_step", Step: "ask", Context: text + "\nAll 214 tests passed on main.",
			Created: now.Add(-9 * time.Minute), Away: away, Options: []daemonapi.Option{
				{Number: 1, Name: "approve", Description: "deploy now", Recommended: true}, {Number: 2, Name: "reject", Description: "fail the step"},
			},
		}
	}
	owner := func(id, name, status string, away daemonapi.Away) daemonapi.Owner {
		return daemonapi.Owner{
			ID: strings.Repeat(id, 16), Kind: "pipeline", Name: name, Command: name, Project: "/home/ada/shop", Step: "test", Status: status, Created: now.Add(-30 * time.Minute), Away: away, USD: 0.42,
			Steps: []daemonapi.Visit{{Step: "build", Outcome: "completed", Started: now.Add(-30 * time.Minute), Finished: &ended}, {Step: "test", Outcome: "running", Started: ended}},
		}
	}
	m := &machines{
		fleet: daemonapi.Fleet{
			Name: "lab", Member: "laptop", Connected: true, Since: &since, Hubs: []string{"vps"},
			Members: []daemonapi.FleetMember{
				{Name: "laptop", User: "ada", State: "up", Version: "v1.4.0", Room: -1},
				{Name: "vps", User: "ada", Hub: true, State: "up", Heard: 1, Version: "v1.4.0", Agents: 2, Room: 3, Labels: []string{"gpu", "big-disk"}, Projects: []string{"shop", "blog"}},
				{Name: "desk", User: "bob", State: "silent", Heard: 251, Version: "v1.3.9", Agents: 1},
				{Name: "a-machine-with-a-rather-long-na", User: "ada", State: "lost", Heard: 7300, Version: "v1.4.0"},
				{Name: "tablet", User: "ada", State: "asleep", Heard: 3700, Version: "v1.4.0", Room: 1},
				{Name: "new", User: "ada", State: "unknown"},
			},
		},
		owners: []daemonapi.Owner{
			owner("1", "release", "waiting", daemonapi.Away{}), owner("2", "deploy", "waiting", vps), owner("3", "migrate", "waiting", desk),
			owner("a", "build", "running", vps), owner("b", "nightly", "running", desk), owner("c", "lint", "failed", daemonapi.Away{}), owner("d", "fix", "done", vps),
		},
	}
	for i, text := range []string{"Release 2.4.0?", "Deploy to the cluster?", "Migrate the database?"} {
		o := &m.owners[i]
		o.Decision = decision(o.ID[:1], o.Name, text, o.Away)
	}
	for i := range m.owners[5:] {
		m.owners[5+i].Ended = &ended
	}
	return m
}

// jobs are those of the fleet, in each status.
func (m *machines) jobs() []daemonapi.Job {
	now := time.Now()
	job := func(id, command, status, host string, args ...string) daemonapi.Job {
		return daemonapi.Job{
			ID: strings.Repeat(id, 16), Project: "shop", Command: command, Args: args, OnLost: "ask", Cap: "default", Status: status, Host: host, By: "laptop",
			Added: now.Add(-50 * time.Minute), Since: now.Add(-10 * time.Minute),
		}
	}
	waits, runs, lost := job("1", "train", "pending", "", "--epochs", "20", "all"), job("a", "build", "running", "vps"), job("b", "nightly", "lost", "desk")
	waits.Needs, waits.Waits = []string{"gpu", "huge-disk"}, []string{"cap default is full: 2 of 2 jobs are being done", "no machine has the label huge-disk", "on vps: there is no room for another job"}
	waits.Reserve = 5
	runs.Attempt, runs.Owner, runs.USD = 1, strings.Repeat("a", 16), 0.42
	lost.Attempt, lost.Owner, lost.Decision = 1, strings.Repeat("b", 16), strings.Repeat("3", 16)
	return []daemonapi.Job{waits, job("2", "lint", "claimed", "vps"), runs, lost, job("d", "fix", "done", "vps", "1234")}
}

func (m *machines) Jobs(_ context.Context, q *api.Query) (page api.Page[daemonapi.Job], err error) {
	for _, j := range m.jobs() {
		if q.Allows(j.Status) {
			page.Items = append(page.Items, j)
		}
	}
	return page, nil
}

func (m *machines) Job(_ context.Context, id string) (daemonapi.Job, error) {
	for _, j := range m.jobs() {
		if j.ID == id {
			return j, nil
		}
	}
	return daemonapi.Job{}, &api.Error{Failure: daemonapi.Failure{Code: "not_found", Error: "no such job"}}
}

func (m *machines) Caps(context.Context) ([]daemonapi.Cap, error) {
	return []daemonapi.Cap{
		{Name: "default", Jobs: 2, USD: 50, Held: []string{strings.Repeat("a", 16), strings.Repeat("b", 16)}, Reserved: 5, Spent: 31.25},
		{Name: "nightly", Jobs: 1},
	}, nil
}

func (m *machines) Changes() (work, journal <-chan struct{}) { return nil, nil }
func (m *machines) Projects() []string                       { return []string{"/home/ada/shop"} }
func (m *machines) Workspaced() map[string]string            { return nil }

func (m *machines) Status(context.Context) daemonapi.Status {
	return daemonapi.Status{Decisions: 1, Pipelines: daemonapi.Counts{Waiting: 1, Failed: 1}}
}

func (m *machines) Fleet(context.Context) daemonapi.Fleet {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fleet
}

func (m *machines) Owners(_ context.Context, q *api.Query) (page api.Page[daemonapi.Owner], err error) {
	for _, o := range m.owners {
		if q.Allows(o.Status) && (q.Host == "" || q.Host == o.Host || q.Host == daemonapi.Here && o.Host == "") {
			page.Items = append(page.Items, o)
		}
	}
	return page, nil
}

func (m *machines) Owner(_ context.Context, id string) (daemonapi.Owner, error) {
	for _, o := range m.owners {
		if o.ID == id {
			return o, nil
		}
	}
	return daemonapi.Owner{}, &api.Error{Failure: daemonapi.Failure{Code: "not_found", Error: "no such pipeline"}}
}

func (m *machines) Decisions(_ context.Context, q *api.Query) (page api.Page[daemonapi.Decision], err error) {
	for _, o := range m.owners {
		if o.Decision != nil && !q.Past {
			page.Items = append(page.Items, *o.Decision)
		}
	}
	return page, nil
}

func (m *machines) Decision(ctx context.Context, id string) (daemonapi.Decision, error) {
	o, err := m.Owner(ctx, id)
	if err != nil {
		return daemonapi.Decision{}, err
	}
	return *o.Decision, nil
}

func (m *machines) Answer(_ context.Context, _ string, a daemonapi.Answer) (daemonapi.Decision, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers = append(m.answers, a)
	return daemonapi.Decision{}, m.refusal
}

func (m *machines) answered() []daemonapi.Answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]daemonapi.Answer{}, m.answers...)
}

func (m *machines) Work(context.Context, *api.Query) (page api.Page[daemonapi.WorkItem], err error) {
	return page, nil
}

func (m *machines) Diff(context.Context, string) (d web.Diff, err error) { return d, nil }

func (m *machines) Graph(context.Context, string) (g daemonapi.Graph, err error) { return g, nil }

func (m *machines) Log(ctx context.Context, id string, q api.LogQuery, to io.Writer) error {
	if o, err := m.Owner(ctx, id); err != nil || o.Heard > 30 {
		return &api.Error{Failure: daemonapi.Failure{Code: "unavailable", Error: o.Host + " has not reported for 4 min"}}
	}
	const text = "2026-11-17T11:50:00Z [build] built it\n"
	q.Begin(0, int64(len(text)))
	_, err := io.WriteString(to, text)
	return err
}

// site serves the pages of a plane, and returns a link that signs a browser in.
func site(t *testing.T, plane web.Plane) (link string) {
	t.Helper()
	state, err := os.MkdirTemp("", "s")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(state) })
	s := web.New(web.Options{Plane: plane, StateDir: state, Version: "test", Log: slog.New(slog.DiscardHandler), Now: time.Now})
	ctx, end := context.WithCancel(context.Background())
	s.Begin(ctx)
	t.Cleanup(func() {
		end()
		s.Wait()
	})
	ui, err := s.Control(ctx, daemonapi.UIControl{})
	check(t, err)
	return ui.Link
}

// The pages of a fleet can be read on a phone and on a desk, in light and dark, and say which machine something is
// on, which are away, and how old what they show is.
func TestIssue20PagesOfAFleet(t *testing.T) {
	b := open(t, site(t, newMachines()))
	b.clean()
	for address, words := range map[string][]string{
		"/":                                     {"desk has not reported for 4 min", "vps", "as of 4 min ago", "Release 2.4.0?"},
		"/inbox":                                {"desk last reported 4 min ago"},
		"/inbox/" + strings.Repeat("3", 16):     {"Migrate the database?"},
		"/pipelines":                            {"All machines", "as of 4 min ago"},
		"/pipelines/" + strings.Repeat("a", 16): {"vps", "built it"},
		"/pipelines/" + strings.Repeat("b", 16): {"desk last reported 4 min ago", "Its log could not be read: desk has not reported for 4 min"},
		"/jobs":                                 {"train --epochs 20 all", "no machine has the label huge-disk", "2 of 2", "$31.25 spent"},
		"/jobs?status=done":                     {"fix 1234"},
		"/jobs/" + strings.Repeat("1", 16):      {"Why it waits", "no machine has the label huge-disk", "Cancel…"},
		"/jobs/" + strings.Repeat("b", 16):      {"desk does not report", "Answer"},
		"/fleet":                                {"Fleet lab", "this machine", "3 more jobs", "gpu, big-disk", "has been asleep for 1 h", "has never reported"},
	} {
		for _, width := range []int64{phone, desktop} {
			for _, dark := range []bool{false, true} {
				b.look(width, dark)
				b.visit(address)
				for _, text := range words {
					b.sees(text)
				}
				b.fits(width)
				b.axe()
				name := strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-", strings.Repeat("1", 16), "1", strings.Repeat("3", 16), "3", strings.Repeat("a", 16), "a", strings.Repeat("b", 16), "b").Replace(address), "-")
				b.picture(fmt.Sprintf("fleet-%s-%d-%t", name, width, dark))
				b.clean()
			}
		}
	}
}

// An answer for a machine that is away is refused: the person is told so, and what was typed is still there.
func TestIssue20ARefusedAnswerKeepsTheWords(t *testing.T) {
	m := newMachines()
	m.refusal = &api.Error{Failure: daemonapi.Failure{Code: "unavailable", Error: "desk has not reported for 4 min; nothing was changed"}}
	m.owners[2].Decision.Source = "idle" // takes words
	b := open(t, site(t, m))
	b.look(phone, false)
	b.visit("/inbox/" + strings.Repeat("3", 16))
	b.do(chromedp.SendKeys("textarea", "after the backup"))
	b.tap(`button[data-key="1"]`)
	b.sees("Your answer: approve")
	b.eval("sendAll()")
	b.sees("The answer was rejected: desk has not reported for 4 min; nothing was changed")
	if got := b.eval(`document.querySelector("textarea").value`); got != "after the backup" {
		t.Errorf("typed: %q", got)
	}
	b.picture("fleet-refused")
	if sent := m.answered(); len(sent) != 1 || sent[0].Option != "approve" || sent[0].Message != "after the backup" {
		t.Errorf("%+v", sent)
	}
}
