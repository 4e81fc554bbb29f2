//go:build unix

package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// standIns are what this program plays in a pane of tmux, and beside one.
var standIns = map[string]func(args []string) error{
	"stand-in-reader": readPastes,
	"stand-in-client": playClient,
	"stand-in-daemon": playDaemon,
}

// The escape sequences around a paste, and the one by which a program asks for them.
const (
	pasteOn    = "\x1b[?2004h"
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// readPastes reads its terminal and tells at the socket, each time so many bytes of text
// have come, which they were.
func readPastes(args []string) error {
	socket, digits := args[0], args[1]
	size, err := strconv.Atoi(digits)
	if err != nil {
		return err
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	fmt.Print(pasteOn)
	fmt.Fprintln(conn, "ready")
	return takePastes(os.Stdin, size, func(text []byte) { fmt.Fprintln(conn, digest(text)) })
}

// takePastes gives each paste and, where the text comes without brackets, each so many
// bytes of it.
func takePastes(in io.Reader, size int, got func(text []byte)) error {
	var input []byte
	buf := make([]byte, 1<<16)
	for {
		n, err := in.Read(buf)
		if err != nil {
			return err
		}
		input = append(input, buf[:n]...)
		text, bracketed := bytes.CutPrefix(input, []byte(pasteStart))
		text, ended := bytes.CutSuffix(text, []byte(pasteEnd))
		mayBecome := bytes.HasPrefix([]byte(pasteStart), input)
		if bracketed && ended || !bracketed && !mayBecome && len(input) >= size {
			got(text)
			input = input[:0]
		}
	}
}

func digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// playClient plays the client in a session: it shows an input box, and calls the hooks
// for what is sent off.
func playClient(args []string) error {
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	c := &clientStandIn{stopgate: args[0], session: args[1]}
	fmt.Print(pasteOn)
	c.draw()
	if err := c.hook("SessionStart", map[string]any{"source": "startup"}); err != nil {
		return err
	}
	for in := bufio.NewReader(os.Stdin); ; {
		key, err := in.ReadByte()
		if err != nil {
			return err
		}
		if key == '\r' {
			if err := c.send(); err != nil {
				return err
			}
			continue
		}
		if c.typed = append(c.typed, key); in.Buffered() == 0 {
			c.draw()
		}
	}
}

// clientStandIn is a client that answers at once.
type clientStandIn struct {
	stopgate string
	session  string
	prompts  int
	typed    []byte // with the brackets of pastes
}

// box is the text in the input box.
func (c *clientStandIn) box() string {
	return strings.NewReplacer(pasteStart, "", pasteEnd, "").Replace(string(c.typed))
}

// send does a prompt: the client tells of it, works, and stops.
func (c *clientStandIn) send() error {
	prompt := strings.TrimSpace(c.box())
	if c.typed = nil; prompt == "" {
		return nil
	}
	c.draw()
	c.prompts++
	id := fmt.Sprintf("%s-%d", c.session, c.prompts)
	if err := c.hook("UserPromptSubmit", map[string]any{"prompt_id": id, "prompt": prompt}); err != nil {
		return err
	}
	return c.hook("Stop", map[string]any{"prompt_id": id, "stop_hook_active": false, "last_assistant_message": answerTo(prompt)})
}

func answerTo(prompt string) string { return "Done: " + prompt }

func (c *clientStandIn) hook(event string, fields map[string]any) error {
	fields["session_id"] = "client-" + c.session
	cmd := exec.Command(c.stopgate, "hook", event)
	cmd.Env = append(os.Environ(), "CLAUDE_CODE_ENTRYPOINT=cli")
	return callHook(cmd, event, fields)
}

// callHook runs a hook that has nothing to say.
func callHook(cmd *exec.Cmd, event string, fields map[string]any) error {
	fields["hook_event_name"], fields["cwd"], fields["transcript_path"] = event, "/", "/dev/null"
	payload, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	cmd.Stdin = bytes.NewReader(payload)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		return fmt.Errorf("hook %s: %w: %s", event, err, out)
	}
	return nil
}

func (c *clientStandIn) draw() {
	rule := strings.Repeat("─", 80)
	text := strings.ReplaceAll(c.box(), "\n", "\r\n  ")
	fmt.Print("\x1b[H\x1b[J", rule, "\r\n❯\u00a0", text, "\x1b[7m \x1b[0m\r\n", rule, "\r\n  ? for shortcuts")
}
