package chaos

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/test/chaos/books"
)

// crowdAudit compares what the store tells with what clients heard.
type crowdAudit struct {
	*crowd
	*books.Books
	began map[string]int            // clients of an agent
	heard map[string]map[string]int // by agent: what it was told
	rows  []crowdRow
}

// crowdRow is something that was to be done once.
type crowdRow struct {
	what                         string
	decided, once, twice, killed int
	other                        int // not wanted any more, or nobody knew and a person was asked
}

func newCrowdAudit(c *crowd) *crowdAudit {
	c.Helper()
	a := &crowdAudit{
		crowd: c, Books: c.books(c.T),
		began: map[string]int{}, heard: map[string]map[string]int{},
	}
	for _, l := range c.ran(c.T) {
		switch {
		case l.What == "together", l.What == "refused":
			c.Errorf("%+v", l)
		case l.What == "heard" && l.Event == "SessionStart":
			a.began[l.Key]++
		case l.What == "heard":
			if a.heard[l.Key] == nil {
				a.heard[l.Key] = map[string]int{}
			}
			a.heard[l.Key][l.Text]++
		}
	}
	return a
}

// cutOff reports whether an agent may not have come so far as to hear anything: it was
// killed, or the terminals went when it was just being started, so that nobody had counted it.
func (a *crowdAudit) cutOff(e *books.Act, agent string) bool {
	return a.shot[agent] || e.Killed || e.Started.Before(a.razed) && a.counted.Before(e.Ended)
}

// told is how often an agent heard its prompt. One that takes the place of another which
// had heard nothing is told the other's first.
func (a *crowdAudit) told(id, prompt string) (times int) {
	for text, n := range a.heard[id] {
		if text == prompt || strings.HasPrefix(text, "[") && strings.HasSuffix(text, "\n\n"+prompt) {
			times += n
			delete(a.heard[id], text)
		}
	}
	return times
}

func (a *crowdAudit) all() {
	for key, e := range a.Acts {
		if e.Ends != 1 {
			a.Errorf("effect %s (%s of %s) came to %d ends", key, e.Kind, e.Errand(), e.Ends)
		}
	}
	a.clients()
	a.messages()
	a.strangers()
}

// clients checks that every agent was one client, which was given its prompt once.
func (a *crowdAudit) clients() {
	began, told := crowdRow{what: "clients"}, crowdRow{what: "their prompts"}
	for _, e := range a.Acts {
		if e.Kind != engine.StartAgent {
			continue
		}
		id := e.Agent.ID
		a.enter(&began, e, id, a.began[id])
		a.enter(&told, e, id, a.told(id, e.Agent.Prompt))
		delete(a.began, id)
	}
	a.rows = append(a.rows, began, told)
}

// messages checks that every message that counts as typed was heard once.
func (a *crowdAudit) messages() {
	r := crowdRow{what: "messages typed"}
	type message struct{ agent, text string }
	decided, done := map[message]int{}, map[message]int{}
	for _, e := range a.Acts {
		if e.Kind != engine.SendAgent {
			continue
		}
		m := message{e.Target, e.Text}
		decided[m]++
		r.decided++
		if e.End == "done" && !a.unwanted(e) {
			done[m]++
		}
	}
	for m, n := range decided {
		heard := a.heard[m.agent][m.text]
		r.once += min(heard, n)
		r.twice += max(heard-n, 0)
		if heard > n || heard < done[m] && !a.shot[m.agent] {
			a.Errorf("agent %s heard %q %d times; it was to be told %d times, and was %d times", m.agent, m.text, heard, n, done[m])
		}
		r.killed += max(done[m]-heard, 0)
		r.other += max(n-max(heard, done[m]), 0)
		delete(a.heard[m.agent], m.text)
	}
	a.rows = append(a.rows, r)
}

// unwanted reports whether an agent was to be ended before a message had reached it.
func (a *crowdAudit) unwanted(send *books.Act) bool {
	for _, e := range a.Acts {
		if e.Kind == engine.KillAgent && e.Target == send.Target && !e.Decided.After(send.Ended) {
			return true
		}
	}
	return false
}

// enter counts something of a client's start that was done so often.
func (a *crowdAudit) enter(r *crowdRow, e *books.Act, id string, times int) {
	r.decided++
	switch {
	case times == 1:
		r.once++
	case times > 1:
		r.twice++
		a.Errorf("%s: %s of agent %s: %d times", r.what, e.Key, id, times)
	case e.End != "done":
		r.other++
	default:
		r.killed++
		if !a.cutOff(e, id) {
			a.Errorf("%s: %s of agent %s: never", r.what, e.Key, id)
		}
	}
}

// strangers checks that no client heard what nobody said.
func (a *crowdAudit) strangers() {
	for id, n := range a.began {
		a.Errorf("nobody started agent %s (%d)", id, n)
	}
	for id, texts := range a.heard {
		for text, n := range texts {
			a.Errorf("nobody told agent %s %q (%d)", id, text, n)
		}
	}
}

func (a *crowdAudit) table() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tdecided\tonce\ttwice\tkilled before\tnot wanted, or asked about")
	for _, r := range a.rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", r.what, r.decided, r.once, r.twice, r.killed, r.other)
	}
	_ = w.Flush()
	return out.String()
}
