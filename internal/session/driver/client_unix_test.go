//go:build unix

package driver

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"golang.org/x/term"
)

// looks is what a stand-in shows, and what it does with what it is given.
type looks struct {
	Screen  string // "" for the box, else one of the screens below
	Box     string // the text in the box
	OnPaste string // a screen to show after a paste, or exit, or kill-server
	Swallow int    // how many Enters it does not hear
	Works   bool   // it shows that it works
	Moves   bool   // something on its screen moves
}

// The screens without a box.
const (
	dialogScreen = "dialog"
	shellScreen  = "shell"
)

// word is what a stand-in tells the test. One of its fields is filled.
type word struct {
	Bytes  []byte  `json:",omitempty"` // what its terminal gave it
	Sent   *string `json:",omitempty"` // the text that Enter sent off
	Shown  bool    `json:",omitempty"` // the terminal has what it was told to show
	Fenced bool    `json:",omitempty"` // everything before the fence has been told
}

// fence is a key that nobody but the test presses.
const fence = "\x01"

// client stands in for the real one: it draws the same box, asks to be told of pastes,
// and sends off what is in the box by Enter.
type client struct {
	looks
	told    *json.Encoder
	input   string // not understood yet
	pasting bool
	moved   int
	drawing int  // drawings that the terminal has not answered
	asked   bool // the test waits for the last of them
}

func standIn(socket string) error {
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	orders := make(chan looks)
	go func() {
		defer close(orders)
		for decoder := json.NewDecoder(conn); ; {
			var l looks
			if decoder.Decode(&l) != nil {
				return
			}
			orders <- l
		}
	}()
	keys := make(chan []byte)
	go func() {
		defer close(keys)
		for {
			buf := make([]byte, 1<<16)
			n, err := os.Stdin.Read(buf)
			if err != nil {
				return
			}
			keys <- buf[:n]
		}
	}()
	fmt.Print("\x1b[?2004h")
	c := &client{told: json.NewEncoder(conn)}
	tick := time.NewTicker(glance / 2)
	for {
		select {
		case <-tick.C:
			if c.Moves {
				c.moved++
				c.draw()
			}
		case l, ok := <-orders:
			if !ok {
				return nil
			}
			c.looks, c.asked = l, true
			c.draw()
		case text, ok := <-keys:
			if !ok {
				return nil
			}
			c.input += string(text)
			c.read()
		}
	}
}

var answerPattern = regexp.MustCompile(`^\x1b\[\d+;\d+R`)

// read takes from the input what is whole.
func (c *client) read() {
	for c.input != "" {
		if answer := answerPattern.FindString(c.input); answer != "" {
			c.input = c.input[len(answer):]
			c.drawn()
			continue
		}
		switch {
		case c.take("\x1b[200~"):
			c.pasting = true
		case c.take("\x1b[201~"):
			c.pasting = false
			c.pasted()
		case strings.HasPrefix(c.input, "\x1b") && len(c.input) < len("\x1b[200~"):
			return // the rest is still to come
		case !c.pasting && c.input[:1] == fence:
			c.input = c.input[1:]
			c.tell(word{Fenced: true})
		case !c.pasting && c.take("\r"):
			c.entered()
		default:
			end := strings.IndexAny(c.input[1:], "\x1b\r"+fence) + 1
			if end == 0 {
				end = len(c.input)
			}
			c.Box += c.input[:end]
			c.take(c.input[:end])
		}
	}
}

// take tells what it takes.
func (c *client) take(prefix string) bool {
	if !strings.HasPrefix(c.input, prefix) {
		return false
	}
	c.input = c.input[len(prefix):]
	c.tell(word{Bytes: []byte(prefix)})
	return true
}

func (c *client) tell(w word) {
	if err := c.told.Encode(w); err != nil {
		os.Exit(0) // the test is over
	}
}

func (c *client) pasted() {
	switch c.OnPaste {
	case "exit":
		os.Exit(0)
	case "kill-server":
		socket, _, _ := strings.Cut(os.Getenv("TMUX"), ",")
		_ = exec.Command("tmux", "-S", socket, "kill-server").Run()
	case "":
	default:
		c.Screen = c.OnPaste
	}
	c.draw()
}

func (c *client) entered() {
	if c.Swallow > 0 {
		c.Swallow--
		return
	}
	if c.Screen != "" || strings.TrimSpace(c.Box) == "" {
		return
	}
	sent := strings.TrimRight(c.Box, " \n")
	c.Box = ""
	c.draw()
	c.tell(word{Sent: &sent})
}

// draw shows the client. The terminal says where its cursor is when it has done that.
func (c *client) draw() {
	rule := strings.Repeat("─", 80)
	lines := []string{"❯ an older prompt", "", fmt.Sprintf("● Done. %d", c.moved), ""}
	glyph := "❯"
	if c.Works {
		glyph = "\x1b[90m❯\x1b[39m"
	}
	switch c.Screen {
	case dialogScreen:
		lines = append(lines, rule, " Do you want to proceed?", " ❯ 1. Yes", "   2. No")
	case shellScreen:
		lines = []string{"$ "}
	default:
		text := strings.ReplaceAll(c.Box, "\n", "\r\n  ")
		if n := strings.Count(c.Box, "\n"); n > 2 || len(c.Box) > 800 {
			text = fmt.Sprintf("[Pasted text #1 +%d lines]", n)
		}
		lines = append(lines, rule, glyph+"\u00a0"+text+"\x1b[7m \x1b[0m", rule, "  ? for shortcuts")
	}
	_, _ = io.WriteString(os.Stdout, "\x1b[H"+strings.ReplaceAll(strings.Join(lines, "\r\n"), "\r\n", "\x1b[K\r\n")+"\x1b[K\x1b[J\x1b[6n")
	c.drawing++
}

func (c *client) drawn() {
	c.drawing--
	if c.drawing == 0 && c.asked {
		c.asked = false
		c.tell(word{Shown: true})
	}
}
