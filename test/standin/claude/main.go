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
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/stopgate/stopgate/test/standin"
)

func main() {
	c := &session{screen: standin.Screen{Above: []string{"● Hello.", ""}}, typed: make(chan string), ended: make(chan os.Signal, 1)}
	source, first, err := c.options(os.Args[1:])
	if err = errors.Join(err, c.open(source)); err != nil {
		fmt.Println("Error:", err)
		os.Exit(1)
	}
	c.live(source, first)
}

type session struct {
	standin.Session
	screen   standin.Screen
	keys     standin.Keys
	messages int
	typed    chan string
	ended    chan os.Signal
	idle     <-chan time.Time // it says then that it waits
}

// options are those that stopgate gives the client, and some that people do.
func (c *session) options(args []string) (source, first string, err error) {
	source = "startup"
	for len(args) > 0 {
		flag, rest := args[0], args[1:]
		if len(rest) == 0 {
			return "", "", fmt.Errorf("option '%s' argument missing", flag)
		}
		switch flag {
		case "--resume", "--session-id":
			if c.ID = rest[0]; flag == "--resume" {
				source = "resume"
			}
		case "--settings":
			c.Settings = append(c.Settings, rest[0])
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
func (c *session) open(source string) error {
	var err error
	if c.CWD, err = os.Getwd(); err != nil {
		return err
	}
	if c.ID == "" {
		c.ID = rand.Text()
	}
	folder := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(c.CWD, "-")
	c.Transcript = filepath.Join(configDir(), "projects", folder, c.ID+".jsonl")
	kept, err := os.ReadFile(c.Transcript)
	switch {
	case source == "resume" && !bytes.Contains(kept, []byte(`"type":"user"`)):
		return fmt.Errorf("no conversation found with session ID: %s", c.ID)
	case source != "resume" && err == nil:
		return fmt.Errorf("session ID %s is already in use", c.ID)
	}
	if err := os.MkdirAll(filepath.Dir(c.Transcript), 0o700); err != nil {
		return err
	}
	c.Settings = append([]string{
		filepath.Join(configDir(), "settings.json"), filepath.Join(c.CWD, ".claude", "settings.json"),
		filepath.Join(c.CWD, ".claude", "settings.local.json"),
	}, c.Settings...)
	_, err = term.MakeRaw(int(os.Stdin.Fd()))
	return err
}

func configDir() string {
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(os.Getenv("HOME"), ".claude")
}

func (c *session) live(source, first string) {
	signal.Ignore(syscall.SIGTSTP)
	signal.Notify(c.ended, syscall.SIGTERM, syscall.SIGHUP)
	go c.listen()
	fmt.Print(standin.Begin)
	c.draw()
	c.call("SessionStart", map[string]any{"source": source})
	if strings.TrimSpace(first) != "" {
		c.submit(first)
	}
	for {
		c.read()
		select {
		case text := <-c.typed:
			c.keys.Add(text)
		case <-c.idle:
			c.call("Notification", map[string]any{"notification_type": "idle_prompt", "message": "Claude is waiting for your input"})
		case s := <-c.ended:
			c.end(s)
		}
	}
}

// listen hears what is typed; its end is the terminal's.
func (c *session) listen() {
	for text := range standin.Keyboard() {
		c.typed <- text
	}
	c.ended <- syscall.SIGHUP
}

// end ends the client with the exit code of the real one.
func (c *session) end(s os.Signal) {
	c.call("SessionEnd", map[string]any{"reason": "other"})
	if s == syscall.SIGTERM {
		os.Exit(143)
	}
	os.Exit(0)
}

// read takes from the keys what is whole.
func (c *session) read() {
	for {
		switch kind, typed := c.keys.Next(); kind {
		case standin.More:
			return
		case standin.Enter:
			text := strings.TrimRight(c.screen.Box, " \n")
			if c.screen.Box = ""; text != "" {
				c.submit(text)
			}
		case standin.Text:
			c.screen.Box += typed
		}
		c.draw()
	}
}

// submit is a turn: from a prompt to a stop that nobody holds up.
func (c *session) submit(text string) {
	c.Prompt, c.screen.Busy, c.idle = rand.Text(), true, nil
	c.draw()
	c.keep(map[string]any{"type": "ai-title", "aiTitle": "A test", "sessionId": c.ID}) // before the prompt
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
	c.screen.Busy, c.idle = false, time.After(patience())
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
func (c *session) think(text string) string {
	for {
		c.keep(map[string]any{"type": "assistant", "sessionId": c.ID, "message": map[string]any{"role": "assistant", "content": []any{
			map[string]any{"type": "tool_use", "id": rand.Text(), "name": "Bash", "input": map[string]any{"command": "standin-model"}},
		}}})
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
func (c *session) output(cmd *exec.Cmd) (string, error) {
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
		case text := <-c.typed: // meanwhile; it is read afterwards
			c.keys.Add(text)
		case s := <-c.ended:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
			<-over
			c.end(s)
		}
	}
}

// ask has a hook answer a question. Without one nobody does.
func (c *session) ask(question string) string {
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

// call calls the hooks of an event, and gives what they printed.
func (c *session) call(event string, fields map[string]any) (answers []string) {
	hooks, err := c.Hooks(event, fields)
	if err != nil {
		fmt.Printf("%v\r\n", err)
	}
	for _, cmd := range hooks {
		out, err := c.hook(cmd, event)
		if err != nil {
			fmt.Printf("%s hook: %v\r\n", event, err)
		}
		answers = append(answers, strings.TrimSpace(out))
	}
	return answers
}

// hook runs a hook. The last one is not interrupted.
func (c *session) hook(cmd *exec.Cmd, event string) (string, error) {
	if event != "SessionEnd" {
		return c.output(cmd)
	}
	out, err := cmd.Output()
	return string(out), err
}

// note adds a message to the transcript.
func (c *session) note(who, text string) {
	message := map[string]any{"role": who, "content": text}
	if who == "assistant" {
		c.messages++
		message = map[string]any{
			"role": who, "id": fmt.Sprintf("msg_%s_%d", c.Prompt, c.messages), "model": "claude-opus-4-8",
			"content": []any{map[string]any{"type": "text", "text": text}},
			"usage":   map[string]any{"input_tokens": 1000, "output_tokens": 100},
		}
	}
	c.keep(map[string]any{
		"type": who, "message": message, "sessionId": c.ID, "cwd": c.CWD, "uuid": rand.Text(), "timestamp": time.Now().UTC(),
	})
}

// keep adds a line to the transcript.
func (c *session) keep(entry map[string]any) {
	line, err := json.Marshal(entry)
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(c.Transcript, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Printf("%v\r\n", err)
	}
}

func (c *session) draw() { fmt.Print(c.screen) }
