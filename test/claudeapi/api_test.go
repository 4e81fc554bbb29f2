package claudeapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// ask sends one request as the client does and gives the raw answer.
func ask(t *testing.T, api *API, agent, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api.URL+"/v1/messages?beta=true", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if agent != "" {
		request.Header.Set("X-Claude-Code-Agent-Id", agent)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(answer)
}

func prompt(text string) string {
	body, _ := json.Marshal(fields{"model": "m", "stream": true, "messages": []any{
		fields{"role": "user", "content": text},
	}})
	return string(body)
}

// said is the text and the tool calls of a streamed answer.
func said(t *testing.T, answer string) string {
	t.Helper()
	var all strings.Builder
	for _, event := range events(t, answer) {
		if block, ok := event["content_block"].(fields); ok && block["type"] == "tool_use" {
			fmt.Fprintf(&all, "<%s>", block["name"])
		}
		if delta, ok := event["delta"].(fields); ok {
			for _, key := range []string{"text", "partial_json"} {
				if text, ok := delta[key].(string); ok {
					all.WriteString(text)
				}
			}
		}
	}
	return all.String()
}

func events(t *testing.T, answer string) []fields {
	t.Helper()
	var found []fields
	kind := ""
	lines := bufio.NewScanner(strings.NewReader(answer))
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			kind = strings.TrimPrefix(line, "event: ")
		case strings.HasPrefix(line, "data: "):
			var data fields
			if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &data); err != nil {
				t.Errorf("data of event %s: %v", kind, err)
			}
			if data["type"] != kind {
				t.Errorf("event %q carries type %q", kind, data["type"])
			}
			found = append(found, data)
		case line != "":
			t.Errorf("not an event stream: %q", line)
		}
	}
	return found
}

func kinds(t *testing.T, answer string) []string {
	var all []string
	for _, event := range events(t, answer) {
		all = append(all, event["type"].(string))
	}
	return all
}

func TestAnAnswerIsAWellFormedStream(t *testing.T) {
	api := New(t)
	api.Script(Join(Text("Let me see.\nNow."), Tool("Bash", map[string]any{"command": "echo \"hi\""})))
	status, answer := ask(t, api, "", prompt("hello"))
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, answer)
	}
	block := []string{"content_block_start", "content_block_delta", "content_block_stop"}
	want := slices.Concat([]string{"message_start"}, block, block, []string{"message_delta", "message_stop"})
	if got := kinds(t, answer); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	if got, want := said(t, answer), "Let me see.\nNow.<Bash>{\"command\":\"echo \\\"hi\\\"\"}"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if !strings.Contains(answer, `"stop_reason":"tool_use"`) {
		t.Errorf("a tool call must stop with tool_use:\n%s", answer)
	}
}

func TestScriptsAreUsedInOrderAndThenSayDone(t *testing.T) {
	api := New(t)
	api.Script(Text("one"), Text("two"))
	api.On(Prompt("count"), Text("three"))
	api.On(Last("count"), Text("never: the rule before it owns the request"))
	for _, step := range []struct{ agent, prompt, want string }{
		{"", "a", "one"},
		{"sub", "count the files", "three"},
		{"sub", "count the files", "Done."},
		{"other", "a subagent never takes from the main script", "Done."},
		{"", "b", "two"},
		{"", "c", "Done."},
	} {
		if _, answer := ask(t, api, step.agent, prompt(step.prompt)); said(t, answer) != step.want {
			t.Errorf("to %q: %q, want %q", step.prompt, said(t, answer), step.want)
		}
	}
	if got := len(api.Requests()); got != 6 {
		t.Errorf("%d requests recorded, want 6", got)
	}
}

func TestTitlesAndProbesTakeNothingFromTheScript(t *testing.T) {
	api := New(t)
	api.Script(Text("one"))
	title := `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[],
		"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"title":{"type":"string"}}}}}}`
	if _, answer := ask(t, api, "", title); said(t, answer) != `{"title":"A test"}` {
		t.Errorf("title: %s", answer)
	}
	response, err := http.Head(api.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("HEAD /: %s", response.Status)
	}
	if _, answer := ask(t, api, "", prompt("hi")); said(t, answer) != "one" {
		t.Errorf("said %q, want one", said(t, answer))
	}
	if got := len(api.Requests()); got != 1 {
		t.Errorf("%d requests recorded, want 1", got)
	}
}

func TestErrorsAreTheAPIs(t *testing.T) {
	api := New(t)
	api.Script(Always(Error(http.StatusBadRequest, "too long")), Text("never"))
	ask(t, api, "", prompt("hi"))
	status, answer := ask(t, api, "", prompt("hi"))
	if want := `{"error":{"message":"too long","type":"invalid_request_error"},"type":"error"}`; status != 400 || strings.TrimSpace(answer) != want {
		t.Errorf("%d %s, want 400 %s", status, answer, want)
	}
	if status, answer := ask(t, api, "", "{"); status != 400 || !strings.Contains(answer, "cannot read") {
		t.Errorf("broken body: %d %s", status, answer)
	}
}

func TestLimitSaysWhenItIsOver(t *testing.T) {
	w := httptest.NewRecorder()
	Limited(time.Unix(1800000000, 0)).refuse(w)
	if got := w.Result().Header.Get("anthropic-ratelimit-unified-reset"); w.Code != http.StatusTooManyRequests || got != "1800000000" {
		t.Errorf("%d, reset %q", w.Code, got)
	}
}

func TestFuncAnswersFromTheRequest(t *testing.T) {
	api := New(t)
	api.Script(Slow(time.Millisecond, Func(func(r Request) Answer { return Text("you said " + r.LastUserText()) })))
	if _, answer := ask(t, api, "", prompt("hi")); said(t, answer) != "you said hi" {
		t.Errorf("said %q", said(t, answer))
	}
}

func TestHoldKeepsTheClientWaiting(t *testing.T) {
	api := New(t)
	release := make(chan struct{})
	api.Script(Hold(release, Text("at last")))
	answered := make(chan string)
	go func() {
		_, answer := ask(t, api, "", prompt("hi"))
		answered <- answer
	}()
	api.WaitRequest(t, Last("hi"))
	select {
	case answer := <-answered:
		t.Fatalf("answered before it was released: %s", answer)
	default:
	}
	close(release)
	if answer := <-answered; said(t, answer) != "at last" {
		t.Errorf("said %q", said(t, answer))
	}
}

// A test may end while the client still waits for an answer.
func TestClosingEndsHeldAnswers(t *testing.T) {
	ended := make(chan struct{})
	t.Run("inner", func(t *testing.T) {
		api := New(t)
		api.Script(Hold(make(chan struct{}), Text("never")))
		go func() {
			defer close(ended)
			response, err := http.Post(api.URL+"/v1/messages", "application/json", strings.NewReader(prompt("hi")))
			if err == nil {
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		}()
		api.WaitRequest(t, Last("hi"))
	})
	<-ended
}

func TestWaitRequestSeesPastAndFuture(t *testing.T) {
	api := New(t)
	ask(t, api, "", prompt("past"))
	api.WaitRequest(t, Last("past"))

	var waiting sync.WaitGroup
	for range 4 {
		waiting.Go(func() {
			if r, err := api.wait(t.Context(), Last("future")); err != nil || r.LastUserText() != "future" {
				t.Errorf("%q, %v", r.LastUserText(), err)
			}
		})
	}
	ask(t, api, "", prompt("other"))
	ask(t, api, "", prompt("future"))
	waiting.Wait()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := api.wait(ctx, Last("never")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it to give up", err)
	}
}

func TestManyConversationsAtOnce(t *testing.T) {
	api := New(t)
	const agents, turns = 8, 10
	for a := range agents {
		var answers []Answer
		for turn := range turns {
			answers = append(answers, Text(fmt.Sprintf("%d.%d", a, turn)))
		}
		api.On(Prompt(fmt.Sprintf("agent %d;", a)), answers...)
	}
	var running sync.WaitGroup
	for a := range agents {
		running.Go(func() {
			for turn := range turns {
				_, answer := ask(t, api, "sub", prompt(fmt.Sprintf("agent %d;", a)))
				if want := fmt.Sprintf("%d.%d", a, turn); said(t, answer) != want {
					t.Errorf("said %q, want %q", said(t, answer), want)
				}
			}
		})
	}
	running.Wait()
	if got := len(api.Requests()); got != agents*turns {
		t.Errorf("%d requests recorded, want %d", got, agents*turns)
	}
}

func TestToolCallsHaveIDsOfTheirOwn(t *testing.T) {
	api := New(t)
	api.Script(Join(Tool("A", nil), Tool("B", nil)), Structured(map[string]any{"ok": true}))
	_, first := ask(t, api, "", prompt("x"))
	_, second := ask(t, api, "", prompt("x"))
	seen := map[any]bool{}
	for _, event := range append(events(t, first), events(t, second)...) {
		if block, ok := event["content_block"].(fields); ok {
			seen[block["id"]] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("ids %v, want three", seen)
	}
}

func TestWhatARequestTells(t *testing.T) {
	header := http.Header{}
	header.Set("X-Claude-Code-Agent-Id", "a1")
	header.Set("X-Claude-Code-Session-Id", "s1")
	body := []byte(`{"model":"m","system":[{"type":"text","text":"be kind"}],"tools":[{"name":"Bash"},{"name":"StructuredOutput"}],"messages":[
		{"role":"user","content":[
			{"type":"text","text":"<system-reminder>\nthe date\n</system-reminder>\n"},
			{"type":"text","text":"<system-reminder>x</system-reminder>\n\nfirst"}]},
		{"role":"system","content":"UserPromptSubmit hook additional context: C"},
		{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"false"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"Exit code 1"}]},
		{"role":"user","content":"Stop hook feedback:\nsay <system-reminder> no more"},
		{"role":"system","content":[{"type":"text","text":"later"}]}]}`)
	r, err := parse(header, body)
	if err != nil {
		t.Fatal(err)
	}
	if r.AgentID != "a1" || r.SessionID != "s1" || r.Model != "m" || r.System != "be kind" || !bytes.Equal(r.Body, body) {
		t.Errorf("%+v", r)
	}
	if got, want := r.Texts(), []string{"first", "Stop hook feedback:\nsay <system-reminder> no more"}; !slices.Equal(got, want) {
		t.Errorf("texts %q, want %q", got, want)
	}
	if r.FirstUserText() != "first" || r.LastUserText() != "Stop hook feedback:\nsay <system-reminder> no more" {
		t.Errorf("first %q, last %q", r.FirstUserText(), r.LastUserText())
	}
	if got, want := r.Notes(), []string{"the date", "x", "UserPromptSubmit hook additional context: C", "later"}; !slices.Equal(got, want) {
		t.Errorf("notes %q, want %q", got, want)
	}
	if got, want := r.ToolResults(), []ToolResult{{"Exit code 1", true}}; !slices.Equal(got, want) {
		t.Errorf("tool results %v, want %v", got, want)
	}
	if !WithTool("StructuredOutput")(r) || r.HasTool("Agent") {
		t.Errorf("tools %v", r.Tools)
	}
	if (Request{}).LastUserText() != "" || (Request{}).FirstUserText() != "" {
		t.Error("a request without messages has no texts")
	}
}
