package event

import "math"

// Cost is what a model's work cost, as Claude Code reckons it.
type Cost struct {
	USD                 float64 `json:"usd"`
	InputTokens         int64   `json:"input_tokens,omitempty"`
	OutputTokens        int64   `json:"output_tokens,omitempty"`
	CacheReadTokens     int64   `json:"cache_read_tokens,omitempty"`
	CacheCreationTokens int64   `json:"cache_creation_tokens,omitempty"`
}

// Plus is the cost of both. A number that makes no sense counts as 0.
func (c Cost) Plus(d Cost) Cost {
	return Cost{
		USD:                 min(money(c.USD)+money(d.USD), math.MaxFloat64),
		InputTokens:         tokens(c.InputTokens) + tokens(d.InputTokens),
		OutputTokens:        tokens(c.OutputTokens) + tokens(d.OutputTokens),
		CacheReadTokens:     tokens(c.CacheReadTokens) + tokens(d.CacheReadTokens),
		CacheCreationTokens: tokens(c.CacheCreationTokens) + tokens(d.CacheCreationTokens),
	}
}

func money(usd float64) float64 {
	if usd > 0 && !math.IsInf(usd, 1) { // which no NaN is
		return usd
	}
	return 0
}

// tokens bounds a number so that two can be added.
func tokens(n int64) int64 { return min(max(n, 0), math.MaxInt64/2) }
