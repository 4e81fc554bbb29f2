package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/term"
)

// standInEnv makes the test binary a client in a pane of tmux; its value is a directory
// that it shares with the test.
const standInEnv = "STOPGATE_CONFORMANCE_STAND_IN"

// The files of that directory.
const (
	looksFile = "looks" // how it is to look and behave
	typedFile = "typed" // every byte that it was given
	sentFile  = "sent"  // a line of JSON for each text that Enter sent off
	shownFile = "shown" // how often it has shown what looks says
)

// looks is what a stand-in shows, and what it does with what it is given.
type looks struct {
	Dialog  bool   // a dialog is open
	Shell   bool   // there is no client, only a shell whose prompt looks like its glyph
	Box     string // a person's text in the input box
	Swallow int    // how many Enters it does not hear
}

// again is the key by which the test has it read its looks. Nobody else presses that.
const again = "\x01"

// client stands in for the real one: it draws the same input box, asks to be told of
// pastes, and sends off what is in the box by Enter. Its hooks are called by the test.
type client struct {
	looks
	dir     string
	input   string // not understood yet
	pasting bool
	shown   int
	drawing int // drawings that the terminal has not answered
	asked   int // times that the test waits for
}

func standIn(dir string) {
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		fmt.Println(err)
		return
	}
	c := &client{dir: dir, asked: 1}
	fmt.Print("\x1b[?2004h")
	c.draw()
	for buf := make([]byte, 1<<16); ; {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return
		}
		c.input += string(buf[:n])
		c.read()
	}
}

// read takes from the input what is whole.
func (c *client) read() {
	drawn := regexp.MustCompile(`^\x1b\[\d+;\d+R`)
	for c.input != "" {
		answer := drawn.FindString(c.input)
		switch {
		case answer != "":
			c.input = c.input[len(answer):]
			c.drawn()
		case c.take("\x1b[200~"):
			c.pasting = true
		case c.take("\x1b[201~"):
			c.pasting = false
			c.draw()
		case strings.HasPrefix(c.input, "\x1b") && len(c.input) < len("\x1b[200~"):
			return // the rest is still to come
		case !c.pasting && c.input[:1] == again:
			c.input = c.input[1:]
			c.look()
		case !c.pasting && c.take("\r"):
			c.enter()
		default:
			end := strings.IndexAny(c.input[1:], "\x1b\r"+again) + 1
			if end == 0 {
				end = len(c.input)
			}
			c.Box += c.input[:end]
			c.take(c.input[:end])
		}
	}
}

// take writes down what it takes.
func (c *client) take(prefix string) bool {
	if !strings.HasPrefix(c.input, prefix) {
		return false
	}
	c.input = c.input[len(prefix):]
	c.add(typedFile, prefix)
	return true
}

func (c *client) add(name, text string) {
	file, err := os.OpenFile(filepath.Join(c.dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(text)
		_ = file.Close()
	}
	if err != nil {
		os.Exit(0) // the test is over
	}
}

// look reads how it is to look. Without a file it stays as it is.
func (c *client) look() {
	c.asked++
	if text, err := os.ReadFile(filepath.Join(c.dir, looksFile)); err == nil {
		c.looks = looks{}
		_ = json.Unmarshal(text, &c.looks)
		_ = os.Remove(filepath.Join(c.dir, looksFile))
	}
	c.draw()
}

func (c *client) enter() {
	if c.Swallow > 0 {
		c.Swallow--
		return
	}
	text := strings.TrimRight(c.Box, " \n")
	if c.Dialog || c.Shell || text == "" {
		return
	}
	c.Box = ""
	c.draw()
	line, _ := json.Marshal(text)
	c.add(sentFile, string(line)+"\n")
}

// draw shows the client. The terminal says where its cursor is when it has done that.
func (c *client) draw() {
	rule := strings.Repeat("─", 80)
	lines := []string{"❯ an older prompt", "", "● Done.", ""}
	switch {
	case c.Dialog:
		lines = append(lines, rule, " Do you want to proceed?", " ❯ 1. Yes", "   2. No")
	case c.Shell:
		lines = []string{"~/project on main", "❯ "}
	default:
		text := strings.ReplaceAll(c.Box, "\n", "\r\n  ")
		if n := strings.Count(c.Box, "\n"); n > 2 || len(c.Box) > 800 {
			text = fmt.Sprintf("[Pasted text #1 +%d lines]", n)
		}
		lines = append(lines, rule, "❯\u00a0"+text+"\x1b[7m \x1b[0m", rule, "  ? for shortcuts")
	}
	fmt.Print("\x1b[H" + strings.ReplaceAll(strings.Join(lines, "\r\n"), "\r\n", "\x1b[K\r\n") + "\x1b[K\x1b[J\x1b[6n")
	c.drawing++
}

// drawn tells the test when its last wish is to be seen.
func (c *client) drawn() {
	c.drawing--
	if c.drawing == 0 && c.shown != c.asked {
		c.shown = c.asked
		c.add(shownFile, strings.Repeat("x", c.shown-c.size(shownFile)))
	}
}

func (c *client) size(name string) int {
	info, err := os.Stat(filepath.Join(c.dir, name))
	if err != nil {
		return 0
	}
	return int(info.Size())
}
