package web

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// mostChartRows are the rows of the table that says what a chart does.
const mostChartRows = 30

// dollars is the unit of money.
const dollars = "$"

// chart is what uPlot draws, and a table of the same for those who cannot see that.
type chart struct {
	ID    string
	Title string
	Keys  []chartKey
	Data  string // JSON, for charts.js
	Rows  []chartRow
	None  bool // there is nothing to draw
}

// chartKey is one of the things that a chart tells apart.
type chartKey struct {
	Name string `json:"name"`
	Tone string `json:"tone"`
	Sum  string `json:"-"` // of all its values, where that says something
}

// chartPoint is what a chart says of one time. A value that is nil is not known.
type chartPoint struct {
	Time   time.Time
	Values []*float64 // one for each key
}

type chartRow struct {
	Time   time.Time
	Values []string
}

// chartData is what charts.js reads: bars are stacked by it, the first at the bottom.
type chartData struct {
	Kind   string       `json:"kind"` // bars, line, steps
	Unit   string       `json:"unit"`
	Step   int64        `json:"step"` // seconds from one point to the next, 0 where they differ
	X      []int64      `json:"x"`    // seconds
	Series []chartKey   `json:"series"`
	Values [][]*float64 `json:"values"`
}

func newChart(id, title, kind, unit string, step time.Duration, keys []chartKey, points []chartPoint) chart {
	c := chart{ID: id, Title: title, Keys: keys}
	data := chartData{Kind: kind, Unit: unit, Step: int64(step / time.Second), Series: keys, Values: make([][]*float64, len(keys))}
	for _, p := range points {
		data.X = append(data.X, p.Time.Unix())
		row, any := chartRow{Time: p.Time}, false
		for i, v := range p.Values {
			data.Values[i] = append(data.Values[i], v)
			text := chartText(unit, v)
			any = any || text != ""
			row.Values = append(row.Values, text)
		}
		if any {
			c.Rows = append(c.Rows, row)
		}
	}
	c.None = len(c.Rows) == 0
	c.Rows = someOf(c.Rows, mostChartRows)
	text, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("a chart of numbers: %v", err))
	}
	c.Data = string(text)
	return c
}

// chartText is a value in the table; nothing is said of none.
func chartText(unit string, v *float64) string {
	switch {
	case v == nil || *v == 0:
		return ""
	case unit == dollars:
		return usd(*v)
	default:
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
}

// rounded is a value in so many parts of one: charts need no more.
func rounded(v, parts float64) *float64 {
	v = float64(int64(v*parts+0.5)) / parts
	return &v
}

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
