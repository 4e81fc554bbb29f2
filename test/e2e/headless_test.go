//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// runLimit bounds one headless client; a prompt takes it about a second.
const runLimit = 4 * time.Minute

// line is one line of the client's stream-json output.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Raw     []byte `json:"-"`
}

// reply is the line that ends a turn.
type reply struct {
	Subtype    string          `json:"subtype"`
	Text       string          `json:"result"`
	IsError    bool            `json:"is_error"`
	Session    string          `json:"session_id"`
	Structured json.RawMessage `json:"structured_output"` // nil when the model did not give it
}

// hookRun is what the client says about one hook it ran.
type hookRun struct {
	Event    string `json:"hook_event"`
	Name     string `json:"hook_name"`
	Outcome  string `json:"outcome"` // success, error, cancelled
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

// headless is a client run with -p. Its methods may be called while it runs, except for the
// fields, which are set when it has ended.
type headless struct {
	Code   int
	Stderr string
	Debug  string // path of the client's debug log

	t      testing.TB
	ctx    context.Context
	cancel context.CancelFunc // ends the client
	cmd    *exec.Cmd
	stdin  io.WriteCloser

	errors bytes.Buffer
	ended  chan struct{} // closed when stdout is at its end

	mu      sync.Mutex
	lines   []line
	changed chan struct{} // closed and replaced with each line
	taken   int           // replies that WaitReply has given
}

// Run gives the client one prompt and waits for its end.
func (b *bench) Run(prompt string, flags ...string) *headless {
	b.t.Helper()
	h := b.launch(flags, "", prompt)
	h.wait()
	return h
}

// Start runs a client that takes prompts one after the other, by Send, until Close.
func (b *bench) Start(flags ...string) *headless {
	b.t.Helper()
	return b.launch(flags, "stream-json", "")
}

// Reply is the last one.
func (h *headless) Reply() reply {
	h.t.Helper()
	replies := h.Replies()
	if len(replies) == 0 {
		h.t.Fatalf("the client gave no result (exit %d)\n%s", h.Code, h.Stderr)
	}
	return replies[len(replies)-1]
}

// Replies are those of all turns so far. A turn may be the client's own: it takes one more when
// a background agent has ended.
func (h *headless) Replies() []reply { return decode[reply](h, "result", "") }

// Hooks are the runs of an event's hooks, the recorder's among them.
func (h *headless) Hooks(event string) []hookRun {
	var runs []hookRun
	for _, run := range decode[hookRun](h, "system", "hook_response") {
		if run.Event == event {
			runs = append(runs, run)
		}
	}
	return runs
}

// Lines are all lines so far.
func (h *headless) Lines() []line {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lines[:len(h.lines):len(h.lines)]
}

func decode[T any](h *headless, kind, subtype string) []T {
	var all []T
	for _, l := range h.Lines() {
		if l.Type != kind || subtype != "" && l.Subtype != subtype {
			continue
		}
		var value T
		if err := json.Unmarshal(l.Raw, &value); err != nil {
			h.t.Errorf("%v in %s", err, l.Raw)
		}
		all = append(all, value)
	}
	return all
}

// Send gives the next prompt. Wait for the reply before another one, or their turns merge.
func (h *headless) Send(prompt string) {
	h.t.Helper()
	err := json.NewEncoder(h.stdin).Encode(map[string]any{
		"type": "user", "message": map[string]any{"role": "user", "content": prompt},
	})
	if err != nil {
		h.t.Fatalf("sending a prompt: %v\n%s", err, h.tail())
	}
}

// WaitReply gives the next reply that it has not given yet.
func (h *headless) WaitReply() reply {
	h.t.Helper()
	limit := time.After(patience)
	for {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		if replies := h.Replies(); len(replies) > h.taken {
			h.taken++
			return replies[h.taken-1]
		}
		select {
		case <-changed:
		case <-h.ended:
			if len(h.Replies()) == h.taken {
				h.t.Fatalf("the client ended without a reply\n%s", h.tail())
			}
		case <-limit:
			h.t.Fatalf("no reply in %v\n%s", patience, h.tail())
		}
	}
}

// Close says that no prompt follows and waits for the end.
func (h *headless) Close() *headless {
	h.t.Helper()
	h.stdin.Close()
	h.wait()
	return h
}

func (b *bench) launch(flags []string, input, prompt string) *headless {
	b.t.Helper()
	settings := b.SettingsFile()
	h := &headless{
		t:       b.t,
		Debug:   b.numbered("debug", "log"),
		ended:   make(chan struct{}),
		changed: make(chan struct{}),
	}
	// The test's flags go first: some take all words that follow, and would take the prompt.
	args := slices.Concat(b.Client[1:], flags, []string{
		"-p", "--output-format", "stream-json", "--verbose", "--include-hook-events",
		"--settings", settings, "--debug-file", h.Debug,
	})
	if input != "" {
		args = append(args, "--input-format", input)
	} else {
		args = append(args, prompt)
	}
	h.ctx, h.cancel = context.WithCancel(b.t.Context())
	h.cmd = b.command(h.ctx, b.Client[0], args...)
	h.cmd.Stderr = &h.errors
	stdout, err := h.cmd.StdoutPipe()
	if err == nil && input != "" {
		h.stdin, err = h.cmd.StdinPipe()
	}
	if err == nil {
		err = h.cmd.Start()
	}
	check(b.t, err)
	b.t.Cleanup(h.kill)
	go h.read(stdout)
	return h
}

func (h *headless) read(stdout io.Reader) {
	defer close(h.ended)
	buffered := bufio.NewReader(stdout)
	for {
		raw, err := buffered.ReadBytes('\n')
		if len(bytes.TrimSpace(raw)) > 0 {
			l := line{Raw: raw}
			if json.Unmarshal(raw, &l) != nil {
				l.Type = "text" // the client complains in plain words before it starts
			}
			h.mu.Lock()
			h.lines = append(h.lines, l)
			close(h.changed)
			h.changed = make(chan struct{})
			h.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

func (h *headless) wait() {
	h.t.Helper()
	limit := time.AfterFunc(runLimit, h.cancel)
	select {
	case <-h.ended:
	case <-h.ctx.Done():
	}
	err := h.cmd.Wait() // closes stdout, should a stray child still hold it
	<-h.ended
	if !limit.Stop() {
		h.t.Fatalf("the client did not end in %v\n%s", runLimit, h.tail())
	}
	h.Code = exitCode(h.t, h.cmd, err)
	h.Stderr = h.errors.String()
}

// kill ends a client that nobody waited for.
func (h *headless) kill() {
	h.cancel()
	if h.cmd.ProcessState == nil {
		h.cmd.Wait()
		<-h.ended
	}
}

// tail is what helps to understand a client that did not do its part.
func (h *headless) tail() string {
	var all strings.Builder
	for _, l := range h.Lines() {
		all.Write(l.Raw[:min(len(l.Raw), 300)])
		all.WriteString("\n")
	}
	if log, err := os.ReadFile(h.Debug); err == nil {
		all.WriteString("debug log, its end:\n")
		all.Write(log[max(0, len(log)-4000):])
	}
	return all.String()
}
