package claudeapi

import (
	"encoding/json"
	"fmt"
	"time"
)

// Answer is what the model says to one request.
type Answer struct {
	blocks  []block
	status  int // an HTTP error instead of a message
	message string
	header  map[string]string // with an error
	delay   time.Duration
	until   <-chan struct{}
	compute func(Request) Answer
	stays   bool
}

type block struct {
	text  string
	tool  string // a tool call when set
	input string // its JSON
}

// Text says something and ends the turn.
func Text(text string) Answer { return Answer{blocks: []block{{text: text}}} }

// Tool calls a tool of the client.
func Tool(name string, input map[string]any) Answer {
	if input == nil {
		input = map[string]any{}
	}
	encoded, err := json.Marshal(input)
	if err != nil {
		panic(fmt.Sprintf("claudeapi: input of tool %s: %v", name, err))
	}
	return Answer{blocks: []block{{tool: name, input: string(encoded)}}}
}

// Agent starts a subagent of the client's general kind and has the main agent wait for it, which
// newer clients do only when told. Script the subagent's requests with On([Prompt](prompt), …).
func Agent(description, prompt string) Answer {
	return Tool("Agent", map[string]any{
		"description": description, "prompt": prompt, "subagent_type": "general-purpose",
		"run_in_background": false,
	})
}

// Structured answers a request made with --json-schema.
func Structured(output map[string]any) Answer { return Tool("StructuredOutput", output) }

// Join puts the content of several answers into one: text and tool calls, in order. Only the
// first may be slow.
func Join(first Answer, more ...Answer) Answer {
	joined := first
	joined.blocks = append([]block(nil), first.blocks...)
	for _, m := range more {
		joined.blocks = append(joined.blocks, m.blocks...)
	}
	return joined
}

// Error refuses the request. The client gives up soon on 400; it retries 401 with growing
// delays, six times in half a minute.
func Error(status int, message string) Answer { return Answer{status: status, message: message} }

// Limited refuses the request of a subscriber whose five hours are used up. The client, which must
// have a token (CLAUDE_CODE_OAUTH_TOKEN) and no key, gives up at once and says when they are over.
func Limited(reset time.Time) Answer {
	at := fmt.Sprint(reset.Unix())
	answer := Error(429, "the limit is reached")
	answer.header = map[string]string{
		"anthropic-ratelimit-unified-status":               "rejected",
		"anthropic-ratelimit-unified-representative-claim": "five_hour",
		"anthropic-ratelimit-unified-reset":                at,
		"anthropic-ratelimit-unified-5h-reset":             at,
		"anthropic-ratelimit-unified-5h-utilization":       "1.0",
		"retry-after": fmt.Sprint(int(time.Until(reset).Seconds())),
	}
	return answer
}

// Always gives the same answer to every request from here on. A client may repeat a refused
// request: 2.1.325 does so even on 400.
func Always(answer Answer) Answer {
	answer.stays = true
	return answer
}

// Slow answers after a time, keeping the connection alive as the real API does.
func Slow(d time.Duration, answer Answer) Answer {
	answer.delay = d
	return answer
}

// Hold answers when the channel is closed, so that a test can act while the client is busy.
func Hold(until <-chan struct{}, answer Answer) Answer {
	answer.until = until
	return answer
}

// Func computes the answer when its request arrives. It runs on the server's side: report with
// t.Error, never t.Fatal.
func Func(f func(Request) Answer) Answer { return Answer{compute: f} }

// to is the answer to one request: itself, or what it computes, as slow as either asks.
func (answer Answer) to(r Request) Answer {
	if answer.compute == nil {
		return answer
	}
	computed := answer.compute(r).to(r)
	if answer.delay > 0 {
		computed.delay = answer.delay
	}
	if answer.until != nil {
		computed.until = answer.until
	}
	return computed
}

// hold waits as the answer asks and calls ping meanwhile; false when it was given up.
func (answer Answer) hold(ping func(), gone, closing <-chan struct{}) bool {
	until := answer.until
	if answer.delay > 0 {
		passed := make(chan struct{})
		timer := time.AfterFunc(answer.delay, func() { close(passed) })
		defer timer.Stop()
		until = passed
	}
	if until == nil {
		return true
	}
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-until:
			return true
		case <-ticker.C:
			ping()
		case <-gone:
			return false
		case <-closing:
			return false
		}
	}
}
