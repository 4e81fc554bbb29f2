package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// sessionsPage are the sessions of Claude Code.
type sessionsPage struct {
	Views  []sessionsView
	Search string
	Show   string
	Items  []Seen
	More   string // the address of the next part
	None   bool   // there is no session at all
	Total  int
	// Machine is this one's name in a fleet: the sessions of others are not here.
	Machine string
}

// sessionsView is a part of all sessions.
type sessionsView struct {
	Name, Href string
	Count      int
	Here       bool
}

// When is when the session's state began, or was so again: one that is blocked twice is blocked now.
func (s Seen) When() time.Time {
	if s.State == "blocked" && s.Last.Time.After(s.Since) {
		return s.Last.Time
	}
	return s.Since
}

// sessionViews are the parts that people look for, by the word in the address.
var sessionViews = []struct {
	show, name string
	has        func(s *Seen) bool
}{
	{"", "All", func(*Seen) bool { return true }},
	{"needs", "Need you", needsPerson},
	{"blocked", "Blocked", func(s *Seen) bool { return s.State == "blocked" }},
	{"busy", "Working", func(s *Seen) bool { return s.State == "busy" || s.State == "blocked" }},
	{"stopped", "Stopped", func(s *Seen) bool { return s.State == "stopped" }},
	{"ended", "Ended", func(s *Seen) bool { return s.State == "ended" }},
}

// needsPerson reports whether a session waits for a person, or was let go although something fails.
func needsPerson(s *Seen) bool {
	return s.State == "asking" || s.State == "failed" || s.State == "stopped" && s.Last.Result == stops.GaveUp
}

// Label is what the session does, in a word.
func (s Seen) Label() string {
	if s.State == "stopped" && s.Last.Result == stops.GaveUp {
		return "gave up"
	}
	return s.State
}

// Seen are all sessions, for other programs.
func (s *Site) Seen() (all []daemonapi.Seen, err error) {
	seen, err := s.roster.refresh().All()
	for i := range seen {
		one := &seen[i]
		all = append(all, daemonapi.Seen{
			ID: one.ID, Project: one.Project, Pane: plain.Line(one.Pane), State: strings.ReplaceAll(one.Label(), " ", "_"), Since: one.When(),
			Stop: one.Last.Call, Headline: one.Last.Headline, USD: one.USD,
		})
	}
	return all, err
}

// turn is a session's place in the list: those that need a person, then those that were blocked, then
// those that work.
func turn(s *Seen) int {
	switch {
	case needsPerson(s):
		return 0
	case s.State == "blocked":
		return 1
	}
	return 1 + urgency(s.State)
}

func readSessions(r *Request) (any, error) {
	page := sessionsPage{Search: strings.TrimSpace(r.Value("q")), Show: r.Value("show"), Machine: r.Fleet(r.Context()).Member}
	from, _ := strconv.Atoi(r.Value("from")) // anything but a number means the beginning
	seen, err := r.Roster().Pick(func(all []*Seen) []*Seen {
		found := page.choose(all)
		from = min(max(from, 0), len(found))
		page.Total = len(found)
		return found[from:min(from+pageSize, len(found))]
	})
	if err != nil {
		return nil, unavailable(err)
	}
	page.Items = seen
	if from+pageSize < page.Total {
		page.More = r.With("from", strconv.Itoa(from+pageSize))
	}
	return page, nil
}

// choose are the sessions that are asked for, in their order.
func (p *sessionsPage) choose(all []*Seen) []*Seen {
	p.None = len(all) == 0
	all = slices.DeleteFunc(all, func(s *Seen) bool { return !strings.Contains(s.ID, p.Search) && !strings.Contains(s.Project, p.Search) })
	has := p.count(all)
	all = slices.DeleteFunc(all, func(s *Seen) bool { return !has(s) })
	slices.SortFunc(all, func(a, b *Seen) int {
		return cmp.Or(cmp.Compare(turn(a), turn(b)), b.When().Compare(a.When()), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// count makes the views, and returns what the one that is shown has in it.
func (p *sessionsPage) count(all []*Seen) (has func(*Seen) bool) {
	has = sessionViews[0].has
	for _, v := range sessionViews {
		view := sessionsView{Name: v.name, Here: v.show == p.Show}
		values := url.Values{}
		if v.show != "" {
			values.Set("show", v.show)
		}
		if p.Search != "" {
			values.Set("q", p.Search)
		}
		view.Href = strings.TrimSuffix("/sessions?"+values.Encode(), "?")
		for i := range all {
			if v.has(all[i]) {
				view.Count++
			}
		}
		if view.Here {
			has = v.has
		}
		p.Views = append(p.Views, view)
	}
	return has
}
