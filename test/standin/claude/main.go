//go:build unix

// The program claude stands in for the client where a test needs many of it, or no model:
// it draws the same input box, takes pastes, calls the hooks of the same settings files,
// keeps a transcript and ends by the same signals.
//
// Its model is the program standin-model on the PATH. It is given what the client was told,
// does in the client's place whatever it likes, and prints what the client says. A line
// "ask " with the input of AskUserQuestion asks a person instead, and the model is told the
// answer; exit code 70 ends the client. STANDIN_IDLE is how long after a turn it says that it
// waits for input; the real one takes a minute.
package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

func main() {
	c := &client{ended: make(chan os.Signal, 1), keys: make(chan string)}
	source, first, err := c.options(os.Args[1:])
	if err = errors.Join(err, c.open(source)); err != nil {
		fmt.Println("Error:", err)
		os.Exit(1)
	}
	c.live(source, first)
}

type client struct {
	session    string
	settings   string
	cwd        string
	transcript string
	prompt     string // its id
	box        string // what stands in the input box
	input      string // keys that are not understood yet
	busy       bool
	messages   int
	keys       chan string
	ended      chan os.Signal
	idle       <-chan time.Time // it says then that it waits
}

// options are those that stopgate gives the client, and some that people do.
func (c *client) options(args []string) (source, first string, err error) {
	source = "startup"
	for len(args) > 0 {
		flag, rest := args[0], args[1:]
		if len(rest) == 0 {
			return "", "", fmt.Errorf("option '%s' argument missing", flag)
		}
		switch flag {
		case "--resume", "--session-id":
			if c.session = rest[0]; flag == "--resume" {
				source = "resume"
			}
		case "--settings":
			c.settings = rest[0]
		case "--permission-mode", "--model":
		case "--":
			first = rest[0]
		default:
			return "", "", fmt.Errorf("unknown option '%s'", flag)
		}
		args = rest[1:]
	}
	return source, first, nil
}

// open finds the transcript, and takes the terminal. As with the real client, a session
// that has a transcript is resumed, and one that has none is begun.
func (c *client) open(source string) error {
	var err error
	if c.cwd, err = os.Getwd(); err != nil {
		return err
	}
	if c.session == "" {
		c.session = rand.Text()
	}
	folder := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(c.cwd, "-")
	c.transcript = filepath.Join(configDir(), "projects", folder, c.session+".jsonl")
	kept, err := os.ReadFile(c.transcript)
	switch {
	case source == "resume" && !bytes.Contains(kept, []byte(`"type":"user"`)):
		return fmt.Errorf("no conversation found with session ID: %s", c.session)
	case source != "resume" && err == nil:
		return fmt.Errorf("session ID %s is already in use", c.session)
	}
	if err := os.MkdirAll(filepath.Dir(c.transcript), 0o700); err != nil {
		return err
	}
	_, err = term.MakeRaw(int(os.Stdin.Fd()))
	return err
}

func configDir() string {
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(os.Getenv("HOME"), ".claude")
}

func (c *client) live(source, first string) {
	signal.Ignore(syscall.SIGTSTP)
	signal.Notify(c.ended, syscall.SIGTERM, syscall.SIGHUP)
	go c.listen()
	fmt.Print("\x1b[?2004h")
	c.draw()
	c.call("SessionStart", map[string]any{"source": source})
	if strings.TrimSpace(first) != "" {
		c.submit(first)
	}
	for {
		c.read()
		select {
		case text := <-c.keys:
			c.input += text
		case <-c.idle:
			c.call("Notification", map[string]any{"notification_type": "idle_prompt", "message": "Claude is waiting for your input"})
		case s := <-c.ended:
			c.end(s)
		}
	}
}

// listen reads the keyboard; its end is the terminal's.
func (c *client) listen() {
	for buf := make([]byte, 1<<16); ; {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			c.ended <- syscall.SIGHUP
			return
		}
		c.keys <- string(buf[:n])
	}
}

// end ends the client with the exit code of the real one.
func (c *client) end(s os.Signal) {
	c.call("SessionEnd", map[string]any{"reason": "other"})
	if s == syscall.SIGTERM {
		os.Exit(143)
	}
	os.Exit(0)
}

// read takes from the keys what is whole.
func (c *client) read() {
	for c.input != "" {
		paste, rest, whole := strings.Cut(strings.TrimPrefix(c.input, "\x1b[200~"), "\x1b[201~")
		switch {
		case strings.HasPrefix(c.input, "\x1b[200~") && whole:
			c.box, c.input = c.box+paste, rest
		case strings.HasPrefix(c.input, "\x1b"):
			return // the rest is still to come
		case c.input[0] == '\r':
			c.input = c.input[1:]
			text := strings.TrimRight(c.box, " \n")
			if c.box = ""; text != "" {
				c.submit(text)
			}
		default:
			c.box, c.input = c.box+c.input[:1], c.input[1:]
		}
		c.draw()
	}
}

// submit is a turn: from a prompt to a stop that nobody holds up.
func (c *client) submit(text string) {
	c.prompt, c.busy, c.idle = rand.Text(), true, nil
	c.draw()
	c.keep(map[string]any{"type": "ai-title", "aiTitle": "A test", "sessionId": c.session}) // before the prompt
	c.call("UserPromptSubmit", map[string]any{"prompt": text})
	c.note("user", text)
	for held := false; ; held = true {
		said := c.think(text)
		c.note("assistant", said)
		answers := c.call("Stop", map[string]any{"stop_hook_active": held, "last_assistant_message": said})
		reason := blocked(answers)
		if reason == "" {
			break
		}
		text = "Stop hook feedback:\n" + reason
		c.note("user", text)
	}
	c.busy, c.idle = false, time.After(patience())
	c.draw()
}

func patience() time.Duration {
	d, err := time.ParseDuration(os.Getenv("STANDIN_IDLE"))
	if err != nil {
		return time.Minute
	}
	return d
}

// think asks the model, and a person where the model wants to.
func (c *client) think(text string) string {
	for {
		model := exec.Command("standin-model", text)
		model.Stderr = os.Stderr
		model.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := c.output(model)
		if model.ProcessState.ExitCode() == 70 {
			c.end(syscall.SIGHUP)
		}
		if err != nil {
			return err.Error()
		}
		question, asks := strings.CutPrefix(strings.TrimSpace(out), "ask ")
		if !asks {
			return strings.TrimSpace(out)
		}
		text = c.ask(question)
	}
}

// output runs a program, and ends it where the client is to end.
func (c *client) output(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	for {
		select {
		case err := <-over:
			return out.String(), err
		case text := <-c.keys: // typed meanwhile, read afterwards
			c.input += text
		case s := <-c.ended:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
			<-over
			c.end(s)
		}
	}
}

// ask has a hook answer a question. Without one nobody does.
func (c *client) ask(question string) string {
	var input map[string]any
	if err := json.Unmarshal([]byte(question), &input); err != nil {
		return err.Error()
	}
	c.call("PreToolUse", map[string]any{"tool_name": "AskUserQuestion", "tool_input": input, "tool_use_id": rand.Text()})
	for _, text := range c.call("PermissionRequest", map[string]any{"tool_name": "AskUserQuestion", "tool_input": input}) {
		var answer struct {
			Output struct {
				Decision struct {
					Behavior, Message string
					UpdatedInput      struct{ Answers map[string]string }
				}
			} `json:"hookSpecificOutput"`
		}
		if json.Unmarshal([]byte(text), &answer) != nil {
			continue
		}
		switch d := answer.Output.Decision; d.Behavior {
		case "allow":
			said, _ := json.Marshal(d.UpdatedInput.Answers)
			return "answered " + string(said)
		case "deny":
			return "denied " + d.Message
		}
	}
	return "not answered"
}

// blocked is the reason of the first hook that holds up a stop.
func blocked(answers []string) string {
	for _, text := range answers {
		var answer struct{ Decision, Reason string }
		if json.Unmarshal([]byte(text), &answer) == nil && answer.Decision == "block" {
			return answer.Reason
		}
	}
	return ""
}

// handler is a command in a settings file.
type handler struct {
	Command string
	Args    []string
}

// call calls the hooks of an event, each command once, and gives what they printed.
func (c *client) call(event string, fields map[string]any) (answers []string) {
	fields["session_id"], fields["transcript_path"], fields["cwd"], fields["hook_event_name"] = c.session, c.transcript, c.cwd, event
	if c.prompt != "" {
		fields["prompt_id"] = c.prompt
	}
	payload, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	for _, h := range c.handlers(event, fields) {
		cmd := exec.Command("/bin/sh", "-c", h.Command)
		if h.Args != nil {
			cmd = exec.Command(h.Command, h.Args...)
		}
		cmd.Env = append(os.Environ(), "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PROJECT_DIR="+c.cwd)
		cmd.Stdin = bytes.NewReader(append(payload, '\n'))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := c.hook(cmd, event)
		if err != nil {
			fmt.Printf("%s hook: %v\r\n", event, err)
		}
		answers = append(answers, strings.TrimSpace(out))
	}
	return answers
}

// hook runs a hook. The last one is not interrupted.
func (c *client) hook(cmd *exec.Cmd, event string) (string, error) {
	if event != "SessionEnd" {
		return c.output(cmd)
	}
	out, err := cmd.Output()
	return string(out), err
}

func (c *client) handlers(event string, fields map[string]any) (all []handler) {
	seen := map[string]bool{}
	for _, path := range []string{
		filepath.Join(configDir(), "settings.json"), filepath.Join(c.cwd, ".claude", "settings.json"),
		filepath.Join(c.cwd, ".claude", "settings.local.json"), c.settings,
	} {
		var file struct {
			Hooks map[string][]struct {
				Matcher string
				Hooks   []handler
			}
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || path == "" {
			continue
		}
		if err = errors.Join(err, json.Unmarshal(text, &file)); err != nil {
			fmt.Printf("%v\r\n", err)
			continue
		}
		for _, group := range file.Hooks[event] {
			tool, isTool := fields["tool_name"].(string)
			if isTool && !takes(group.Matcher, tool) {
				continue
			}
			for _, h := range group.Hooks {
				if key := fmt.Sprintf("%q %q", h.Command, h.Args); !seen[key] {
					seen[key] = true
					all = append(all, h)
				}
			}
		}
	}
	return all
}

// takes reads a matcher as the client does: plain names are compared as they are, anything
// else is a regular expression.
func takes(matcher, tool string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	if plainNames.MatchString(matcher) {
		return slices.Contains(strings.Split(matcher, "|"), tool)
	}
	pattern, err := regexp.Compile(matcher)
	return err == nil && pattern.MatchString(tool)
}

var plainNames = regexp.MustCompile(`^[A-Za-z0-9_|]+$`)

// note adds a message to the transcript.
func (c *client) note(who, text string) {
	message := map[string]any{"role": who, "content": text}
	if who == "assistant" {
		c.messages++
		message = map[string]any{
			"role": who, "id": fmt.Sprintf("msg_%s_%d", c.prompt, c.messages), "model": "claude-opus-4-8",
			"content": []any{map[string]any{"type": "text", "text": text}},
			"usage":   map[string]any{"input_tokens": 1000, "output_tokens": 100},
		}
	}
	c.keep(map[string]any{
		"type": who, "message": message, "sessionId": c.session, "cwd": c.cwd, "uuid": rand.Text(), "timestamp": time.Now().UTC(),
	})
}

// keep adds a line to the transcript.
func (c *client) keep(entry map[string]any) {
	line, err := json.Marshal(entry)
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(c.transcript, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Printf("%v\r\n", err)
	}
}

// draw shows the box as the real client does.
func (c *client) draw() {
	rule, glyph := strings.Repeat("─", 80), "\x1b[39m❯"
	if c.busy {
		glyph = "\x1b[90m❯\x1b[39m"
	}
	text := strings.ReplaceAll(c.box, "\n", "\r\n  ")
	if n := strings.Count(c.box, "\n"); n > 2 || len(c.box) > 800 {
		text = fmt.Sprintf("[Pasted text #1 +%d lines]", n)
	}
	w := bufio.NewWriter(os.Stdout)
	for _, line := range []string{"\x1b[H● Hello.", "", rule, glyph + "\u00a0" + text + "\x1b[7m \x1b[0m", rule} {
		fmt.Fprint(w, line+"\x1b[K\r\n")
	}
	fmt.Fprint(w, "  ? for shortcuts\x1b[K\x1b[J")
	_ = w.Flush()
}
