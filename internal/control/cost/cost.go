// Package cost says what agents have used, from the transcripts that the client writes.
package cost

import (
	"bytes"
	"encoding/json"

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
type usage struct {
	input, output, read, write, writeHour int64
	searches                              int64
	fast                                  bool
}

// prompt is how long the input was in all.
func (u usage) prompt() int64 { return u.input + u.read + u.write + u.writeHour }

func (u usage) tokens() int64 { return u.prompt() + u.output }

// most is the larger of two reports on one message: while it is written, the client says
// less than at its end.
func (u usage) most(other usage) usage {
	return usage{
		input: max(u.input, other.input), output: max(u.output, other.output), read: max(u.read, other.read),
		write: max(u.write, other.write), writeHour: max(u.writeHour, other.writeHour),
		searches: max(u.searches, other.searches), fast: u.fast || other.fast,
	}
}

// nanos is what it costs by these rates.
func (u usage) nanos(r rates) int64 {
	const million = 1e6
	usd := (float64(u.input)*r.input + float64(u.output)*r.output + float64(u.read)*r.read +
		float64(u.write)*r.write + float64(u.writeHour)*r.writeHour) / million
	return int64(min(usd+float64(u.searches)*search, maxUSD) * nanosPerUSD)
}

// entry is what a line of a transcript says about cost.
type entry struct {
	Type    string `json:"type"`
	UUID    string `json:"uuid"`
	Message struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage struct {
			Input    count `json:"input_tokens"`
			Output   count `json:"output_tokens"`
			Read     count `json:"cache_read_input_tokens"`
			Write    count `json:"cache_creation_input_tokens"`
			Creation struct {
				Hour count `json:"ephemeral_1h_input_tokens"`
			} `json:"cache_creation"`
			Tools struct {
				Searches count `json:"web_search_requests"`
			} `json:"server_tool_use"`
			Speed string `json:"speed"`
		} `json:"usage"`
	} `json:"message"`
}

// count is a number of tokens. One that cannot be is 0.
type count int64

// maxCount is more than any message has, and small enough that sums of it do not overflow.
const maxCount = 1 << 32

// UnmarshalJSON takes whatever stands there.
func (c *count) UnmarshalJSON(text []byte) error {
	var number float64
	if json.Unmarshal(text, &number) == nil && number > 0 {
		*c = count(min(number, maxCount))
	}
	return nil
}

// synthetic is the model of messages that the client made up itself, such as errors.
const synthetic = "<synthetic>"

// Line takes in a line of a transcript. A message of the model takes several lines, one for
// each part of it, and a conversation that was forked has the old lines as well: each
// message counts once.
func (m *Meter) Line(line []byte) {
	if !bytes.Contains(line, []byte(`"usage"`)) {
		return
	}
	var e entry
	if json.Unmarshal(line, &e) != nil || e.Type != "assistant" || e.Message.Model == synthetic {
		return
	}
	id := e.Message.ID
	if id == "" {
		id = e.UUID
	}
	if id != "" {
		m.add(id, e.Message.Model, e.usage())
	}
}

func (e *entry) usage() usage {
	u := e.Message.Usage
	// How long what was written is kept is part of how much it is.
	hour := min(u.Creation.Hour, u.Write)
	return usage{
		input: int64(u.Input), output: int64(u.Output), read: int64(u.Read),
		write: int64(u.Write - hour), writeHour: int64(hour),
		searches: int64(u.Tools.Searches), fast: u.Speed == "fast",
	}
}

func (m *Meter) add(id, model string, u usage) {
	old := m.messages[id]
	u = u.most(old.usage)
	now := spent{usage: u, nanos: max(old.nanos, u.nanos(price(m.prices, model, u)))}
	m.messages[id] = now
	m.tokens += now.tokens() - old.tokens()
	m.nanos = min(m.nanos+now.nanos-old.nanos, maxNanos)
}
