package lifecycle

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/event"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/keeper"
)

// tailSize is how much of a transcript's end is looked at.
const tailSize = 64 << 10

// apiFault is an error of the API in which a turn ended.
type apiFault struct {
	word string // the client's
	text string
}

// apiError looks whether the turn ended in an error of the API. The client has an event of
// its own for that, but not in all versions and not for all errors. The transcript lags, so
// its end may be an older turn's: then the client says something else was said last.
func (k *Keeper) apiError(call *keeper.Call) (apiFault, bool) {
	p, ok := call.Payload.(*hook.StopPayload)
	if !ok {
		return apiFault{}, false
	}
	text, err := tail(p.TranscriptPath, tailSize)
	if err != nil {
		return apiFault{}, false
	}
	fault, found := lastError(text)
	last := strings.TrimSpace(p.LastAssistantMessage)
	return fault, found && (last == "" || last == strings.TrimSpace(fault.text))
}

// park lets an agent stop whose API failed, and has the daemon look after it.
func (k *Keeper) park(call *keeper.Call, a agent, fault apiFault) keeper.Verdict {
	const longest = 500
	word := event.Word{Agent: a.id, Kind: fault.word, Message: clip(fault.text, longest), Prompt: call.Payload.Common().PromptID}
	_, err := emitRecord(call, event.Record{
		Event: event.AgentError, Word: &word,
		Enums: event.Enums{Error: fault.word, Reset: Reset(fault.text, k.Now())},
	})
	if err != nil {
		return untold(err)
	}
	return passed("api_error", "the turn ended in an error of the API: "+fault.word)
}

// Reset is when an error's text says that the API takes requests again, as the journal has
// it; empty where it does not say.
func Reset(text string, now time.Time) string {
	if t, ok := ParseReset(text, now); ok {
		return t.UTC().Format(time.RFC3339)
	}
	return ""
}

// tail reads the end of a file, from the first whole line in it.
func tail(path string, size int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, err // a pipe might never give anything
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	start := max(info.Size()-size, 0)
	text, err := io.ReadAll(io.NewSectionReader(file, start, size))
	if start > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, err
}

// entry is a line of a transcript, as far as it matters here.
type entry struct {
	Type     string `json:"type"`
	Side     bool   `json:"isSidechain"`
	APIError bool   `json:"isApiErrorMessage"`
	Error    any    `json:"error"`
	Message  struct {
		ID      string          `json:"id"` // what was said in one go has one line for each part
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// lastError is the error of the API that a transcript ends in. Its last line may be half
// written, and what is neither the agent's nor said to it does not count.
func lastError(text []byte) (apiFault, bool) {
	end := bytes.LastIndexByte(text, '\n')
	for end > 0 {
		start := bytes.LastIndexByte(text[:end], '\n') + 1
		var e entry
		if json.Unmarshal(text[start:end], &e) == nil && !e.Side && (e.Type == "assistant" || e.Type == "user") {
			return e.fault()
		}
		end = start - 1
	}
	return apiFault{}, false
}

func (e *entry) fault() (apiFault, bool) {
	if e.Type != "assistant" || !e.APIError {
		return apiFault{}, false
	}
	word, _ := e.Error.(string)
	if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") != "" || len(word) > 64 {
		word = "unknown"
	}
	return apiFault{word, e.said()}, true
}

// said is the text of an entry.
func (e *entry) said() string {
	var text string
	if json.Unmarshal(e.Message.Content, &text) == nil {
		return text
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(e.Message.Content, &blocks) // what cannot be read says nothing
	var all []string
	for _, b := range blocks {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n")
}

// clip shortens a text.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}
