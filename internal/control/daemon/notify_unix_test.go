//go:build unix

package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/record/event"
)

// service is somebody on this machine who takes messages.
type service struct {
	url  string
	code atomic.Int32
	got  chan string
}

func takeMessages(t *testing.T) *service {
	t.Helper()
	s := &service{got: make(chan string, 10)}
	s.code.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(int(s.code.Load()))
		s.got <- string(body)
	}))
	t.Cleanup(func() {
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	s.url = "generic+" + server.URL + "/secret-token"
	return s
}

// tell writes how people are told into a daemon's configuration.
func tell(t *testing.T, o Options, ways string) {
	t.Helper()
	check(t, os.WriteFile(o.Config, []byte("notify:\n"+ways), 0o600))
}

// escalate lets an agent ask for a person, and returns the decision.
func (r *running) escalate(t *testing.T, owner, agent string) daemonapi.Decision {
	t.Helper()
	emit(t, r.opts.journalDir(), event.AgentSignal, event.Word{Agent: agent, Kind: "escalate", Message: "which one?"})
	return *r.reach(t, owner, "a decision", func(o daemonapi.Owner) bool { return o.Decision != nil }).Decision
}

// troubles waits until the daemon's trouble is as it should be.
func (r *running) troubles(t *testing.T, so func([]string) bool) {
	t.Helper()
	for end := time.Now().Add(watchdog); ; time.Sleep(5 * time.Millisecond) {
		status, err := r.Status(t.Context())
		check(t, err)
		if so(status.Trouble) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("trouble: %q", status.Trouble)
		}
	}
}

func TestPeopleAreTold(t *testing.T) {
	w, s, people := newWorld(), newMemory(t), takeMessages(t)
	c := testCore(s)
	var agents []string
	for _, id := range []string{anID, anotherID} {
		agent := working(t, c, id)
		w.start(agent, "true")
		agents = append(agents, agent)
	}
	o := options(t, w, s)
	o.Notifier = nil
	tell(t, o, "  urls: [\""+people.url+"\"]\n")
	r := begin(t, w, o)

	people.code.Store(http.StatusForbidden)
	r.escalate(t, anID, agents[0])
	<-people.got
	r.troubles(t, func(all []string) bool {
		return len(all) == 1 && strings.HasPrefix(all[0], "notify: generic://127.0.0.1:") && strings.Contains(all[0], "403") && !strings.Contains(all[0], "secret")
	})

	people.code.Store(http.StatusOK)
	d := r.escalate(t, anotherID, agents[1])
	got := strings.Split(<-people.got, "\n")
	if len(got) != 4 || !strings.Contains(got[0], "needs attention") || !strings.Contains(got[1], "which one?") ||
		!strings.Contains(got[2], "stopgate decision answer "+d.ID) || !strings.HasPrefix(got[3], "Project: ") {
		t.Errorf("told %q", got)
	}
	r.troubles(t, func(all []string) bool { return len(all) == 0 })
}

// While the web page is on, a message leads to it.
func TestIssue18MessagesLeadToThePage(t *testing.T) {
	w, s, people := newWorld(), newMemory(t), takeMessages(t)
	agent := working(t, testCore(s), anID)
	w.start(agent, "true")
	o := options(t, w, s)
	o.Notifier = nil
	tell(t, o, "  urls: [\""+people.url+"\"]\n")
	r := begin(t, w, o)
	ui, err := r.ControlUI(t.Context(), daemonapi.UIControl{})
	check(t, err)

	d := r.escalate(t, anID, agent)
	if got := <-people.got; !strings.Contains(got, "\nOpen: "+ui.URL+"/inbox/"+d.ID+"\n") {
		t.Errorf("told %q", got)
	}
}

// What is held in quiet hours outlives the daemon, and is sent afterwards, unless nobody
// waits for an answer any more.
func TestQuietHours(t *testing.T) {
	for _, answered := range []bool{false, true} {
		t.Run(fmt.Sprintf("answered %v", answered), func(t *testing.T) {
			w, s, people := newWorld(), newMemory(t), takeMessages(t)
			agent := working(t, testCore(s), anID)
			w.start(agent, "true")
			o := options(t, w, s)
			o.Notifier = nil
			ways, now := "  urls: [\""+people.url+"\"]\n", time.Now()
			tell(t, o, ways+fmt.Sprintf("  quiet: {from: %q, to: %q}\n", now.Add(-2*time.Hour).Format("15:04"), now.Add(2*time.Hour).Format("15:04")))
			r := begin(t, w, o)
			d := r.escalate(t, anID, agent)
			if answered {
				_, err := r.Answer(t.Context(), d.ID, daemonapi.Answer{Option: "done"})
				check(t, err)
			}
			r.stop(t)
			state, _, err := load(t.Context(), s)
			check(t, err)
			owner := state.Owner(anID)
			held := slices.ContainsFunc(owner.Effects, func(e engine.OpenEffect) bool { return e.Kind == engine.NotifyPerson && !e.Started })
			if held == answered || len(people.got) != 0 {
				t.Errorf("held: %v, told %d times; %+v", held, len(people.got), owner.Effects)
			}
			tell(t, o, ways)
			r = begin(t, w, o)
			if !answered {
				if got := <-people.got; !strings.Contains(got, d.ID) {
					t.Errorf("told %q", got)
				}
			}
			r.stop(t)
			if len(people.got) != 0 {
				t.Errorf("told once more: %q", <-people.got)
			}
		})
	}
}
