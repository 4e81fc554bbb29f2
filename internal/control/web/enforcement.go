package web

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostPlaces is how many projects are looked at for a page: those of the newest stops, and those that
	// are approved.
	mostPlaces = 100
	// unansweredFor is how long a hook may take before it counts as killed.
	unansweredFor = 30 * time.Minute
	// heardLately is how long a stop is a sign that hooks are called.
	heardLately = 24 * time.Hour
)

// enforcementPage answers whether anything is enforced at all.
type enforcementPage struct {
	Answer  string
	Tone    string // of the answer
	Places  []placeRow
	Left    int // projects that are not listed
	Gone    int // projects whose folders are gone
	Probe   stops.Brief
	Reading bool
}

// placeRow is a project, with what says whether it is enforced.
type placeRow struct {
	Root   string
	Tone   string
	State  string // in a word or two
	Why    string
	Help   string // the command that helps, to be run there
	Rank   int
	Trust  fact
	Hooks  fact
	Off    *stop.Recess
	Proof  proof
	Last   stops.Brief
	Judged bool // the last stop was
}

// fact is something that was found out, with its colour.
type fact struct{ Text, Tone string }

// proof is when a block was last seen to block.
type proof struct {
	At   time.Time
	How  string
	Stop string // the id of that stop
}

func readEnforcement(r *Request) (any, error) {
	page := &enforcementPage{}
	var heard []stops.Place
	more, err := r.Past(func(p *Past) {
		heard, page.Probe = p.places.All(r.Now.Add(-unansweredFor)), p.probe
	})
	if err != nil {
		return nil, err
	}
	page.Reading = more

	places := r.places(heard)
	if len(places) > mostPlaces {
		page.Left = len(places) - mostPlaces
		places = places[:mostPlaces]
	}

	roots := make([]string, 0, len(places))
	for _, p := range places {
		roots = append(roots, p.Root)
	}
	seen := r.site.glances.of(r.Plane, roots, r.Now)

	for _, p := range places {
		glance, known := seen[p.Root]
		if known && glance.Gone {
			page.Gone++
			continue
		}
		page.Places = append(page.Places, judge(p, glance, known, r.Now))
	}

	slices.SortStableFunc(page.Places, func(a, b placeRow) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), b.Last.Time.Compare(a.Last.Time), strings.Compare(a.Root, b.Root))
	})
	page.Answer, page.Tone = answerOfAll(page.Places)
	return page, nil
}

// places are the projects that stops were heard of, that a person approved, or that pipelines ran in, those
// of the newest stops first. What stopgate made for itself is not among them.
func (r *Request) places(heard []stops.Place) (all []stops.Place) {
	known := map[string]bool{}
	slices.SortStableFunc(heard, func(a, b stops.Place) int { return b.Last.Time.Compare(a.Last.Time) })
	for _, p := range heard {
		known[p.Root] = true
		all = append(all, p)
	}
	for _, root := range slices.Concat(trust.NewStore(r.site.StateDir).Roots(), r.Projects()) {
		if !known[root] {
			known[root] = true
			all = append(all, stops.Place{Root: root})
		}
	}
	return slices.DeleteFunc(all, func(p stops.Place) bool { return strings.HasPrefix(p.Root, r.site.StateDir+"/") })
}

// The ranks of projects: those that need a person come first.
const (
	notEnforced = iota
	notSure
	enforced
	nothingToDo
)

// judge says whether a project is enforced, and why.
func judge(p stops.Place, g doctor.Glance, known bool, now time.Time) placeRow {
	row := placeRow{Root: p.Root, Last: p.Last, Judged: !p.Last.Time.IsZero() && p.Last.Gap == nil, Off: g.Off}
	row.Proof = proofOf(p, g)
	row.Trust, row.Hooks = trustFact(g), hooksFact(g)
	say := func(rank int, tone, state, why, help string) placeRow {
		row.Rank, row.Tone, row.State, row.Why, row.Help = rank, tone, state, why, help
		return row
	}
	bad := func(state, why, help string) placeRow { return say(notEnforced, "bad", state, why, help) }
	warn := func(state, why, help string) placeRow { return say(notSure, "warn", state, why, help) }
	heard := !p.Last.Time.IsZero() && now.Sub(p.Last.Time) < heardLately

	switch {
	case !known:
		row.Trust, row.Hooks = fact{"not known", "calm"}, fact{"not known", "calm"}
		return warn("not known", "Its files could not be read in time.", "")
	case g.Off != nil:
		why := "A person switched it off."
		if g.Off.Why != "" {
			why = "A person switched it off: " + g.Off.Why
		}
		return bad("off", why, "stopgate on")
	case !g.Configured:
		return say(nothingToDo, "calm", "nothing set", "It has no configuration, so there is nothing to enforce.", "stopgate init")
	case g.Trust == trust.Untrusted:
		return bad("not enforced", "Its configuration is not approved, so nothing in it runs.", "stopgate trust")
	case g.Trust == trust.Damaged:
		return bad("not enforced", "The approval is damaged: "+g.Fault, "stopgate trust")
	case len(g.Hooks.Scopes) == 0 && !heard:
		return bad("not enforced", "Claude Code does not call stopgate here: "+cmp.Or(g.Hooks.Why, "no settings file has its hooks")+".", cmp.Or(g.Hooks.Help, "stopgate hooks install"))
	case g.Tested != nil && !g.Tested.Live && g.Tested.Time.After(row.Proof.At):
		return bad("not enforced", "stopgate doctor found: "+g.Tested.Fault, "stopgate doctor")
	}
	if row, found := gapOf(p, g, bad, warn); found {
		return row
	}
	switch {
	case g.Invalid:
		return bad("not enforced", "Its configuration cannot be used.", "stopgate validate")
	case len(g.Exempt) > 0:
		return warn("does not block", "Failed gates do not block: "+g.Exempt[0].Setting+".", "stopgate status")
	case g.Failures > 0:
		return bad("not enforced", "The retry limit is reached: "+ledger.LimitEnds+".", "stopgate clean")
	case p.Unanswered > 0:
		return warn("gaps", plain.Count(p.Unanswered, "stop")+" got no answer: the hook was killed.", "stopgate doctor")
	case len(g.Hooks.Scopes) == 0:
		return warn("not sure", "No settings file calls stopgate, but something else does: stops arrive.", "stopgate doctor")
	case g.Trust == trust.Edited:
		return warn("edited", "Edited since it was approved: the approved version is used. "+strings.Join(plain.Few(g.Changed, 3), ", "), "stopgate trust --show")
	case row.Proof.At.IsZero():
		return warn("not proven", "Installed and approved, but no block has been seen yet.", "stopgate doctor")
	}
	return say(enforced, "good", "enforced", "", "")
}

// gapOf is why the last stop was not enforced, where that still holds.
func gapOf(p stops.Place, g doctor.Glance, bad, warn func(state, why, help string) placeRow) (placeRow, bool) {
	if p.Last.Gap == nil || g.ApprovedAt.After(p.Last.Time) {
		return placeRow{}, false
	}
	why := "The last stop: " + p.Last.Headline
	switch p.Last.Gap.Kind {
	case stops.Off, stops.APIError, stops.NoProject:
		return placeRow{}, false // that is over, or says nothing
	case stops.Observing:
		return warn("observes", why, "stopgate validate"), true
	case stops.NotJudged, stops.NothingSet:
		return warn("not asked", why, "stopgate doctor"), true
	}
	return bad("not enforced", why, "stopgate doctor"), true
}

// proofOf is the last time that a block was seen to block: an agent went on after one, or doctor tried.
func proofOf(p stops.Place, g doctor.Glance) proof {
	found := proof{At: p.Proof.Time, How: "an agent was blocked", Stop: p.Held.ID}
	if g.Tested != nil && g.Tested.Live && g.Tested.Time.After(found.At) {
		found = proof{At: g.Tested.Time, How: "stopgate doctor"}
	}
	return found
}

func trustFact(g doctor.Glance) fact {
	switch g.Trust {
	case trust.Approved:
		return fact{"approved", "good"}
	case trust.Edited:
		return fact{"edited since", "warn"}
	case trust.Untrusted:
		return fact{"not approved", "bad"}
	case trust.Damaged:
		return fact{"damaged", "bad"}
	}
	return fact{"not needed", "calm"}
}

func hooksFact(g doctor.Glance) fact {
	if len(g.Hooks.Scopes) == 0 {
		if g.Hooks.Why != "" {
			return fact{"do not count", "bad"}
		}
		return fact{"not installed", "bad"}
	}
	return fact{g.Hooks.Where(), "good"}
}

// answerOfAll is the page's answer in one sentence.
func answerOfAll(places []placeRow) (answer, tone string) {
	var off, unsure []string
	all := 0
	for _, p := range places {
		if p.Rank == nothingToDo {
			continue
		}
		all++
		switch p.Rank {
		case notEnforced:
			off = append(off, plain.Clip(plain.Line(path.Base(p.Root)), 40))
		case notSure:
			unsure = append(unsure, plain.Clip(plain.Line(path.Base(p.Root)), 40))
		}
	}

	list := func(names []string) string { return strings.Join(plain.Few(names, 3), ", ") }
	switch {
	case all == 0:
		return "", ""
	case len(off) == all:
		return "No: nothing is enforced in " + list(off) + ".", "bad"
	case len(off) > 0:
		verb := "are"
		if len(off) == 1 {
			verb = "is"
		}
		return fmt.Sprintf("Not everywhere: %d of %s %s not enforced: %s.", len(off), plain.Count(all, "project"), verb, list(off)), "bad"
	case len(unsure) == all:
		return "Not proven: look at " + list(unsure) + ".", "warn"
	case len(unsure) > 0:
		return "Yes, but look at " + list(unsure) + ".", "warn"
	}
	return "Yes: enforced in " + plain.Count(all, "project") + ".", "good"
}
