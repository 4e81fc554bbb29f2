package web

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/record/stops"
)

// mostSpentRows are the rows of the table that says what a chart does.
const mostSpentRows = 10

// spentChart is what a session has spent over time: the agent itself, and the reviews at its stops.
type spentChart struct {
	Data   string // for the chart: [times, agent, reviews]
	Agent  float64
	Review float64
	First  time.Time
	Last   time.Time
	Rows   []spentRow
}

// spentRow is a row of the table.
type spentRow struct {
	Time          time.Time
	Agent, Review float64
}

// chartOf draws what an agent spent and what the reviews at its stops did. total is what all reviews
// cost; the stops here are the last of them. It is nil where there is nothing to draw.
func chartOf(agent []Spent, judged []*stops.Stop, total float64) *spentChart {
	rows := make([]spentRow, 0, len(agent)+len(judged))
	before := total
	for _, s := range judged {
		before -= s.Cost.USD
	}
	for _, s := range judged {
		if s.Cost.USD > 0 {
			rows = append(rows, spentRow{Time: s.Time, Review: s.Cost.USD})
		}
	}
	last := 0.0
	for _, a := range agent {
		rows = append(rows, spentRow{Time: a.Time, Agent: a.USD - last})
		last = a.USD
	}
	slices.SortStableFunc(rows, func(a, b spentRow) int { return a.Time.Compare(b.Time) })
	sum := spentRow{Review: max(0, before)}
	for i := range rows {
		sum.Agent, sum.Review = sum.Agent+rows[i].Agent, sum.Review+rows[i].Review
		rows[i].Agent, rows[i].Review = sum.Agent, sum.Review
	}
	if len(rows) < 2 || sum.Agent+sum.Review <= 0 {
		return nil
	}
	c := &spentChart{Agent: sum.Agent, Review: sum.Review, First: rows[0].Time, Last: rows[len(rows)-1].Time, Rows: someOf(rows, mostSpentRows)}
	c.Data = c.encode(rows)
	return c
}

func (c *spentChart) encode(rows []spentRow) string {
	data := [3][]float64{}
	for _, r := range rows {
		data[0] = append(data[0], float64(r.Time.Unix()))
		data[1] = append(data[1], round(r.Agent))
		data[2] = append(data[2], round(r.Review))
	}
	text, err := json.Marshal(data)
	if err != nil {
		return "[]" // numbers that are none
	}
	return string(text)
}

func round(usd float64) float64 { return float64(int64(usd*1e4+.5)) / 1e4 }

// someOf are so many of many, evenly, with the first and the last.
func someOf[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	some := make([]T, 0, most)
	for i := range most {
		some = append(some, all[i*(len(all)-1)/(most-1)])
	}
	return some
}

// Total is what both have spent.
func (r spentRow) Total() float64 { return cmp.Or(r.Agent+r.Review, 0) }
