package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"
)

// Usage is what a line says that a message of the model has used. A message takes several lines, one for
// each part of it.
type Usage struct {
	Message string // its id
	Model   string
	Time    time.Time // zero where the line does not say
	Tokens
}

// Tokens is how much one message has used.
type Tokens struct {
	Input, Output int64
	// of the cache: what was read, and what was written to be kept for minutes or for an hour
	Read, Write, WriteHour int64
	Searches               int64
	Fast                   bool
}

// maxCount is more than any message has, and small enough that sums of it do not overflow.
const maxCount = 1 << 32

// count is a number of tokens. One that cannot be is 0.
type count int64

// UnmarshalJSON takes whatever stands there.
func (c *count) UnmarshalJSON(text []byte) error {
	var number float64
	if json.Unmarshal(text, &number) == nil && number > 0 {
		*c = count(min(number, maxCount))
	}
	return nil
}

// synthetic is the model of messages that Claude Code made up itself, such as errors.
const synthetic = "<synthetic>"

// UsageOf reads what a line says about usage; most say nothing.
func UsageOf(line []byte) (u Usage, ok bool) {
	if !bytes.Contains(line, []byte(`"usage"`)) {
		return u, false
	}

	var e struct {
		Type      string          `json:"type"`
		UUID      string          `json:"uuid"`
		Timestamp json.RawMessage `json:"timestamp"`
		Message   struct {
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
	if json.Unmarshal(line, &e) != nil || e.Type != Assistant || e.Message.Model == synthetic {
		return u, false
	}

	_ = json.Unmarshal(e.Timestamp, &u.Time) // zero then
	u.Message, u.Model = cmp.Or(e.Message.ID, e.UUID), e.Message.Model
	used := e.Message.Usage
	// How long what was written is kept is part of how much it is.
	hour := min(used.Creation.Hour, used.Write)
	u.Tokens = Tokens{
		Input: int64(used.Input), Output: int64(used.Output), Read: int64(used.Read),
		Write: int64(used.Write - hour), WriteHour: int64(hour),
		Searches: int64(used.Tools.Searches), Fast: used.Speed == "fast",
	}
	return u, u.Message != ""
}
