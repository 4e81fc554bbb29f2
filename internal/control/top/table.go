package top

import (
	"cmp"
	"slices"
	"strings"
)

// table is what follows from the rest of the state: the rows of the list that is shown, and how many of
// all need a person and run. Next makes it anew, so that a screen costs it once.
type table struct {
	rows        []row
	needs, runs int
}

func (s *State) tabulate() (t table) {
	now := s.unsorted(nowView)
	for i := range now {
		switch now[i].rank {
		case needsPerson:
			t.needs++
		case running:
			t.runs++
		}
	}
	all := now
	if s.view != nowView {
		all = s.unsorted(s.view)
	}
	words := strings.Fields(strings.ToLower(s.filter))
	all = slices.DeleteFunc(all, func(r row) bool { return !s.lets(&r, words) })
	if t.rows = all; s.view != stopView && s.view != projectView {
		t.rows = sorted(all)
	}
	return t
}

// lets reports whether a row is one of those that the person wants to see.
func (s *State) lets(r *row, words []string) bool {
	if r.rank == ended && !s.finished && s.view != stopView {
		return false
	}
	if len(words) == 0 {
		return true
	}
	text := r.text() + s.onHost(r)
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// unsorted are all rows of a list.
func (s *State) unsorted(v view) []row {
	switch v {
	case pipelineView:
		return s.owners()
	case agentView:
		return s.agents()
	case sessionView:
		return s.sessions()
	case inboxView:
		return slices.Concat(s.decisions(), s.questions())
	case stopView:
		return s.stops()
	case projectView:
		return s.projectRows()
	}
	return slices.Concat(s.owners(), s.jobRows(), s.sessions(), s.work())
}

// sorted has what needs a person first: decisions, sessions that ask, pipelines that are held, items
// that are dead; of each kind the one that has waited longest. All others begin with the newest.
func sorted(rows []row) []row {
	order := make([]*row, len(rows)) // rows are large to move
	for i := range rows {
		order[i] = &rows[i]
	}
	slices.SortFunc(order, func(a, b *row) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		age := b.since.Compare(a.since)
		if a.rank == needsPerson {
			age = cmp.Or(cmp.Compare(urgency(a), urgency(b)), -age)
		}
		return cmp.Or(age, cmp.Compare(a.ref.ID, b.ref.ID))
	})
	in := make([]row, len(rows))
	for i, r := range order {
		in[i] = *r
	}
	return in
}

func urgency(r *row) int {
	return slices.Index([]string{"decide", "asking", "failed", "gave up", "held", "lost", "dead"}, r.state)
}

// selected is the row under the cursor, and where it is; none where there is no row.
func (s *State) selected() (at int, found bool) {
	rows := s.table.rows
	if len(rows) == 0 {
		return 0, false
	}
	c := s.cursors[s.view]
	at = slices.IndexFunc(rows, func(r row) bool { return r.ref == c.ref })
	if at < 0 {
		at = min(max(0, c.at), len(rows)-1)
	}
	return at, true
}

// listOf is the list that has all rows of a kind.
var listOf = map[Kind]view{
	OwnerRow: pipelineView, AgentRow: agentView, SessionRow: sessionView, SeenRow: sessionView, DecisionRow: inboxView, StopRow: stopView, ProjectRow: projectView, WorkRow: nowView, JobRow: nowView,
}

// rowOf is what is known of something without asking.
func (s *State) rowOf(ref Ref) (row, bool) {
	all := s.unsorted(listOf[ref.Kind])
	at := slices.IndexFunc(all, func(r row) bool { return r.ref == ref })
	if at < 0 {
		return row{}, false
	}
	return all[at], true
}
