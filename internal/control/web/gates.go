package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/stopgate/stopgate/internal/record/stops"
)

// mostListed is how many gates stand on the page: those that something is to be said of.
const mostListed = 60

// gatesPage is how gates did over a while.
type gatesPage struct {
	Tabs     []tab // the whiles
	While    string
	Since    string // its parameter
	Projects []choice
	Project  string
	Job      string // the one gate that is shown
	Back     string // the address of all gates, where it is one

	Gates    []gateRow
	Left     int // gates that are not listed
	Runs     int
	PassRate string
	Caught   int
	Proven   int
	Share    string // answered from proofs
	Saved    stops.Saving
	USD      float64 // what reviews cost
	Flaky    *gateRow
	Charts   []chart
	Reading  bool
	Empty    bool
}

// gateRow is a gate with what follows from its counts.
type gateRow struct {
	*stops.Gate
	Name     string
	Href     string
	PassRate string
	Width    int // of the bar for that, of 100
	Share    string
	Saving   stops.Saving
}

// Flaky reports whether it says different things about the same.
func (g gateRow) Flaky() bool { return g.Flips > 0 }

// whiles are the times that people ask for, with the parts that charts have.
var whiles = []struct {
	value, name, words string
	step               time.Duration
	parts              int
}{
	{"24h", "24 hours", "in the last 24 hours", time.Hour, 24},
	{"7d", "7 days", "in the last 7 days", 6 * time.Hour, 28},
	{"30d", "30 days", "in the last 30 days", 24 * time.Hour, 30},
}

func readGates(r *Request) (any, error) {
	chosen := 1
	page := &gatesPage{Project: r.Value("project"), Job: r.Value("gate")}
	for i, w := range whiles {
		if r.Value("since") == w.value {
			chosen = i
		}
	}
	while := whiles[chosen]
	page.While, page.Since = while.words, while.value
	for i, w := range whiles {
		page.Tabs = append(page.Tabs, tab{Name: w.name, Href: r.first("since", w.value), Here: i == chosen})
	}
	if page.Job != "" {
		page.Back = "/gates?since=" + while.value
	}

	end := r.Now.UTC().Truncate(while.step).Add(while.step)
	begin := end.Add(-time.Duration(while.parts) * while.step)
	var spans []stops.Span
	var gates []*stops.Gate
	var roots []string
	more, err := r.Past(func(p *Past) {
		roots = p.history.Roots()
		gates = p.history.Since(begin, page.Project, page.Job)
		spans = p.history.Spans(begin, while.step, while.parts, page.Project, page.Job)
	})
	if err != nil {
		return nil, err
	}
	page.Reading = more
	page.Projects = choices(roots, page.Project)
	page.addGates(gates, while.value)
	page.Empty = len(roots) == 0
	page.addCharts(spans, while.step)
	return page, nil
}

func (p *gatesPage) addGates(gates []*stops.Gate, since string) {
	failed := 0
	for _, g := range gates {
		row := gateRow{
			Gate: g, Name: stops.JobName(g.Job), PassRate: percent(g.Passed, g.Runs()), Width: of100(g.Passed, g.Runs()),
			Share: percent(g.Proven, g.Runs()+g.Proven), Saving: g.Saved(),
			Href: "/gates?" + url.Values{"gate": {g.Job}, "project": {g.Root}, "since": {since}}.Encode(),
		}
		p.Gates = append(p.Gates, row)
		p.Runs += g.Runs()
		failed += g.Failed
		p.Proven += g.Proven
		p.Caught += g.Caught
		p.Saved = p.Saved.Plus(row.Saving)
		p.USD += g.Cost.USD
	}
	p.PassRate, p.Share = percent(p.Runs-failed, p.Runs), percent(p.Proven, p.Runs+p.Proven)
	slices.SortStableFunc(p.Gates, byTrouble)
	if len(p.Gates) > 0 && p.Gates[0].Flaky() {
		p.Flaky = &p.Gates[0]
	}
	p.Left = max(0, len(p.Gates)-mostListed)
	p.Gates = p.Gates[:len(p.Gates)-p.Left]
}

// byTrouble puts flaky gates first, then those that are red, then those that failed most often.
func byTrouble(a, b gateRow) int {
	red := func(g gateRow) int {
		if g.Red {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(b.Flips, a.Flips), cmp.Compare(red(b), red(a)), cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Runs(), a.Runs()))
}

func of100(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return part * 100 / whole
}

// percent never says 100 or 0 of what is not all or nothing.
func percent(part, whole int) string {
	switch n := of100(part, whole); {
	case whole == 0:
		return ""
	case n == 0 && part > 0:
		return "<1 %"
	default:
		return strconv.Itoa(n) + " %"
	}
}

func (p *gatesPage) addCharts(spans []stops.Span, step time.Duration) {
	add := func(id, title, kind, unit string, keys []chartKey, values func(s stops.Span) []*float64) {
		points := make([]chartPoint, 0, len(spans))
		for _, s := range spans {
			points = append(points, chartPoint{Time: s.Start, Values: values(s)})
		}
		p.Charts = append(p.Charts, newChart(id, title, kind, unit, step, keys, points))
	}
	outcomes := []chartKey{{Name: "failed", Tone: "bad"}, {Name: "passed", Tone: "good"}, {Name: "answered from proofs", Tone: "calm"}}
	add("outcomes", "Answers", "bars", "", outcomes, func(s stops.Span) []*float64 {
		return []*float64{rounded(float64(s.Failed), 1), rounded(float64(s.Passed), 1), rounded(float64(s.Proven), 1)}
	})
	if p.Job == "" {
		add("saved", "Time saved by proofs, in minutes", "bars", "min", []chartKey{{Name: "saved", Tone: "busy"}}, func(s stops.Span) []*float64 {
			return []*float64{rounded(s.Saved.Time.Minutes(), 10)}
		})
		return
	}
	add("duration", "Typical duration, in seconds", "line", "s", []chartKey{{Name: "median of its runs", Tone: "busy"}}, func(s stops.Span) []*float64 {
		if s.Passed+s.Failed == 0 {
			return []*float64{nil}
		}
		return []*float64{rounded(s.Typical.Seconds(), 100)}
	})
}
