// Package cost says what agents have used, from the transcripts that Claude Code writes.
package cost

import (
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/project/config"
)

// Total is what was used in all.
type Total struct {
	USD    float64
	Tokens int64 // in and out, the cache's included
}

// Meter adds up what the transcripts of one agent say. It is not for several goroutines at
// once.
type Meter struct {
	prices   []config.Price
	messages map[string]spent
	tokens   int64
	nanos    int64 // US dollars times 1e9: sums of whole numbers stay exact
}

// spent is what one message of the model has used.
type spent struct {
	usage
	nanos int64
}

// New is a meter. The prices come before those that are built in.
func New(prices []config.Price) *Meter {
	return &Meter{prices: prices, messages: map[string]spent{}}
}

// Total is what was used so far.
func (m *Meter) Total() Total {
	return Total{USD: float64(m.nanos) / nanosPerUSD, Tokens: m.tokens}
}

const (
	nanosPerUSD = 1e9
	maxUSD      = 1e6  // that one message costs
	maxNanos    = 1e18 // so that the sum does not overflow
)

// usage is how many tokens one message has used.
type usage transcript.Tokens

// prompt is how long the input was in all.
func (u usage) prompt() int64 { return u.Input + u.Read + u.Write + u.WriteHour }

func (u usage) tokens() int64 { return u.prompt() + u.Output }

// most is the larger of two reports on one message: while it is written, Claude Code says
// less than at its end.
func (u usage) most(other usage) usage {
	return usage{
		Input: max(u.Input, other.Input), Output: max(u.Output, other.Output), Read: max(u.Read, other.Read),
		Write: max(u.Write, other.Write), WriteHour: max(u.WriteHour, other.WriteHour),
		Searches: max(u.Searches, other.Searches), Fast: u.Fast || other.Fast,
	}
}

// nanos is what it costs by these rates.
func (u usage) nanos(r rates) int64 {
	const million = 1e6
	usd := (float64(u.Input)*r.input + float64(u.Output)*r.output + float64(u.Read)*r.read +
		float64(u.Write)*r.write + float64(u.WriteHour)*r.writeHour) / million
	return int64(min(usd+float64(u.Searches)*search, maxUSD) * nanosPerUSD)
}

// Line takes in a line of a transcript. A message of the model takes several lines, one for
// each part of it, and a conversation that was forked has the old lines as well: each
// message counts once.
func (m *Meter) Line(line []byte) {
	if u, ok := transcript.UsageOf(line); ok {
		m.Add(u)
	}
}

// Add takes in what a line says.
func (m *Meter) Add(said transcript.Usage) {
	old := m.messages[said.Message]
	u := usage(said.Tokens).most(old.usage)
	now := spent{usage: u, nanos: max(old.nanos, u.nanos(price(m.prices, said.Model, u)))}
	m.messages[said.Message] = now
	m.tokens += now.tokens() - old.tokens()
	m.nanos = min(m.nanos+now.nanos-old.nanos, maxNanos)
}
