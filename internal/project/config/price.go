package config

import "github.com/stopgate/stopgate/internal/project/document"

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Model      string // a pattern
	Input      float64
	Output     float64
	CacheRead  *float64 // nil: a tenth of the input's, as is usual
	CacheWrite *float64 // nil: by how long it is kept, as is usual
}

func (p *Price) fields() []field {
	amount := document.Amount(true, mostCost)
	return []field{
		document.Key("model", &p.Model, glob(), "A pattern for model names, such as claude-opus-*.").Needed(),
		document.Key("input", &p.Input, amount, "US dollars per million tokens.").Needed(),
		document.Key("output", &p.Output, amount, "").Needed(),
		document.Key("cache_read", &p.CacheRead, document.Optional(amount), "Default: a tenth of input."),
		document.Key("cache_write", &p.CacheWrite, document.Optional(amount), "Default: 1.25 times input, or 2 times for the one-hour cache."),
	}
}
