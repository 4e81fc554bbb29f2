//go:build unix

package web

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/hub/hubtest"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// joined are two machines of one fleet: a laptop, which is its hub, and a server.
func joined(t *testing.T) (laptop, server *stage) {
	t.Helper()
	laptop, server = newStage(t, busy), newStage(t, busy)
	checktest.Write(t, filepath.Join(server.home, ".config", "agent-gauntlet", "config.yml"), fmt.Sprintf("fleet:\n  labels: [gpu]\n  projects:\n    - name: shop\n      path: %s\n", server.root))
	server.run("trust", "--yes") // other machines start only what was approved
	laptop.run("fleet", "init", "lab", "--name", "laptop", "--user", "ada", "--hub", fmt.Sprintf("127.0.0.1:%d", hubtest.Port(t)), "--yes")
	join(t, laptop, server)
	return laptop, server
}

// join invites the server to the laptop's fleet.
func join(t *testing.T, laptop, server *stage) {
	t.Helper()
	var invited struct{ Token string }
	check(t, json.Unmarshal([]byte(laptop.run("fleet", "invite", "--json", "--yes")), &invited))
	server.run("fleet", "join", invited.Token, "--name", "vps", "--yes")
	eventually(t, "the laptop sees the server", func() bool {
		f, err := laptop.Fleet(t.Context())
		check(t, err)
		m, found := f.Find("vps")
		return found && m.State == "up"
	})
}

// A person who looks at one machine answers what another one asks, and sees what becomes of it.
func TestIssue20AThumbMovesAPipelineElsewhere(t *testing.T) {
	laptop, server := joined(t)
	id := server.start("release", "2.4.0").ID
	server.waits(id, "waiting")
	b := open(t, laptop.ui().Link)
	b.look(phone, false)
	b.visit("/inbox")
	b.sees("Release 2.4.0 to production?")
	if host := b.text(".decision .host"); !strings.HasSuffix(host, "vps") {
		t.Errorf("the card is on %q", host)
	}
	b.tap(`button[data-key="1"]`)
	b.sees("Your answer: release")
	b.eval("sendAll()")
	server.waits(id, "done")
	b.visit("/pipelines/" + id)
	b.sees("shipped") // its log
	b.sees("vps")
	b.visit("/fleet")
	b.sees("Fleet lab")
	b.sees("gpu")
	b.picture("fleet-real")
	b.clean()

	// By the command line the same: started there, watched here.
	o := laptop.start("--host", "vps", "lint")
	eventually(t, "it is in the list", func() bool {
		owners, err := laptop.Pipelines(t.Context(), daemonapi.Filter{Host: "vps", Status: "failed"})
		check(t, err)
		return len(owners) == 1 && owners[0].ID == o.ID && owners[0].Host == "vps"
	})
	if log := laptop.run("pipeline", "logs", o.ID); !strings.Contains(log, "3 problems") {
		t.Errorf("its log:\n%s", log)
	}
}

// A machine that was taken out keeps its daemon and its own work, and may join again.
func TestIssue20AMachineThatWasTakenOutGoesOn(t *testing.T) {
	laptop, server := joined(t)
	before, err := server.Status(t.Context())
	check(t, err)
	id := server.start("release", "2.4.0").ID
	laptop.run("fleet", "leave", "vps", "--yes")
	eventually(t, "it is cut off", func() bool {
		f, err := server.Fleet(t.Context())
		check(t, err)
		return !f.Connected
	})
	server.run("fleet", "leave", "--yes")
	join(t, laptop, server)
	server.waits(id, "waiting")
	if now, err := server.Status(t.Context()); err != nil || now.PID != before.PID {
		t.Errorf("another daemon runs: %+v, %v", now, err)
	}
}

// A person sees on one machine what another one does for the fleet and what waits, and cancels it there.
func TestIssue20AJobIsSeenAndCancelledOnAPage(t *testing.T) {
	laptop, _ := joined(t)
	add := func(args ...string) (id string) {
		t.Helper()
		var added daemonapi.Job
		check(t, json.Unmarshal([]byte(laptop.run(append([]string{"job", "add", "--json", "--project", "shop"}, args...)...)), &added))
		return added.ID
	}
	runs, waits := add("release", "2.4.0"), add("--needs", "moon", "lint")
	is := func(id, status string) {
		t.Helper()
		eventually(t, id+" is "+status, func() bool {
			j, err := laptop.Job(t.Context(), id)
			check(t, err)
			return j.Status == status
		})
	}
	is(runs, "running")
	b := open(t, laptop.ui().Link)
	b.look(phone, false)
	b.visit("/jobs")
	b.sees("release 2.4.0")
	b.sees("no machine has the label moon")
	b.picture("jobs-real")
	for _, id := range []string{waits, runs} {
		b.visit("/jobs/" + id)
		b.tap(`details[data-keep="cancel"] summary`)
		b.tap("button.danger")
		is(id, "cancelled")
		b.sees("cancelled")
	}
	b.picture("job-cancelled")
	b.clean()
}
