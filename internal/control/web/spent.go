package web

import (
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/record/stops"
)

// spending is what was spent at a time, or up to it: by the agent itself, and by the reviews at its stops.
type spending struct {
	time          time.Time
	agent, review float64
}

// spentChart draws what a session has spent over time. total is what all reviews cost; the stops here are
// the last of them. It is nil where there is nothing to draw.
func spentChart(agent []Spent, judged []*stops.Stop, total float64) *chart {
	all := make([]spending, 0, len(agent)+len(judged))
	before := total
	for _, s := range judged {
		if s.Cost.USD > 0 {
			all = append(all, spending{time: s.Time, review: s.Cost.USD})
			before -= s.Cost.USD
		}
	}
	last := 0.0
	for _, a := range agent {
		all = append(all, spending{time: a.Time, agent: a.USD - last})
		last = a.USD
	}
	slices.SortStableFunc(all, func(a, b spending) int { return a.time.Compare(b.time) })

	sum := spending{review: max(0, before)}
	points := make([]chartPoint, 0, len(all))
	for _, s := range all {
		sum.agent, sum.review = sum.agent+s.agent, sum.review+s.review
		points = append(points, chartPoint{Time: s.time, Values: []*float64{rounded(sum.agent, 1e4), rounded(sum.review, 1e4)}})
	}
	if len(points) < 2 || sum.agent+sum.review <= 0 {
		return nil
	}
	keys := []chartKey{{Name: "the agent", Tone: "busy", Sum: usd(sum.agent)}, {Name: "reviews at stops", Tone: "warn", Sum: usd(sum.review)}}
	c := newChart("spent", "Spent so far, in dollars", "steps", dollars, 0, keys, points)
	return &c
}
