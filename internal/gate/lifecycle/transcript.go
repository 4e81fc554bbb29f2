package lifecycle

import (
	"bytes"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// tailSize is how much of a transcript's end is looked at.
const tailSize = 64 << 10

// apiFault is an error of the API in which a turn ended.
type apiFault struct {
	word string // Claude Code's
	text string
}

// apiError looks whether the turn ended in an error of the API. Claude Code has an event of
// its own for that, but not in all versions and not for all errors. The transcript lags, so
// its end may be an older turn's: then Claude Code says something else was said last.
func (k *Keeper) apiError(call *keeper.Call) (apiFault, bool) {
	p, ok := call.Payload.(*hook.StopPayload)
	if !ok {
		return apiFault{}, false
	}
	text, err := transcript.Tail(p.TranscriptPath, tailSize)
	if err != nil {
		return apiFault{}, false
	}
	fault, found := lastError(text)
	last := strings.TrimSpace(p.LastAssistantMessage)
	return fault, found && (last == "" || last == fault.text)
}

// park lets an agent stop whose API failed, and has the daemon look after it.
func (k *Keeper) park(call *keeper.Call, a agent, fault apiFault) keeper.Verdict {
	const longest = 500
	word := event.Word{Agent: a.id, Kind: fault.word, Message: plain.Cut(fault.text, longest), Prompt: call.Payload.Common().PromptID}
	_, err := emitRecord(call, event.Record{
		Event: event.AgentError, Word: &word,
		Enums: event.Enums{Error: fault.word, Reset: Reset(fault.text, k.Now())},
	})
	if err != nil {
		return untold(err)
	}
	return passed("api_error", "the turn ended with an API error: "+fault.word)
}

// Reset is when an error's text says that the API takes requests again, as the journal has
// it; empty where it does not say.
func Reset(text string, now time.Time) string {
	if t, ok := parseReset(text, now); ok {
		return t.UTC().Format(time.RFC3339)
	}
	return ""
}

// lastError is the error of the API that a transcript ends in. Its last line may be half
// written, and what is neither the agent's nor said to it does not count.
func lastError(text []byte) (apiFault, bool) {
	end := bytes.LastIndexByte(text, '\n')
	for end > 0 {
		start := bytes.LastIndexByte(text[:end], '\n') + 1
		if e, ok := transcript.Parse(text[start:end]); ok {
			return faultOf(&e)
		}
		end = start - 1
	}
	return apiFault{}, false
}

func faultOf(e *transcript.Entry) (apiFault, bool) {
	word, text, found := e.Fault()
	if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") != "" || len(word) > 64 {
		word = "unknown"
	}
	return apiFault{word, text}, found
}
