package standin

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/term"
)

// ActorEnv makes a test binary an actor; its value is the socket at which the test listens.
const ActorEnv = "STOPGATE_STAND_IN"

// Looks is what an actor shows, and what it does with what it is given.
type Looks struct {
	Screen  string // "" for the box, else one of the screens below
	Box     string // the text in the box
	OnPaste string // a screen to show after a paste, or exit, or kill-server
	Swallow int    // how many Enters it does not hear
	Works   bool   // it shows that it works
	Moves   bool   // something on its screen moves
}

// The screens without a box.
const (
	DialogScreen = "dialog"
	ShellScreen  = "shell"
	GlyphScreen  = "glyph" // a shell whose prompt looks like the client's
)

// word is what an actor tells the test. One of its fields is filled.
type word struct {
	Bytes  []byte  `json:",omitempty"` // what its terminal gave it
	Sent   *string `json:",omitempty"` // the text that Enter sent off
	Shown  bool    `json:",omitempty"` // the terminal has what it was told to show
	Fenced bool    `json:",omitempty"` // everything before the fence has been told and drawn
}

// actor draws the client's box, asks to be told of pastes, and sends off what is in the box by
// Enter. Its hooks are called by the test.
type actor struct {
	Looks
	keys    Keys
	reports *json.Encoder
	moved   int
	drawing int  // drawings that the terminal has not answered
	asked   word // what the test waits for until they are
}

// Act is the process of an actor. What moves on its screen does so at every tick.
func Act(socket string, tick time.Duration) error {
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	orders := make(chan Looks)
	go func() {
		defer close(orders)
		for decoder := json.NewDecoder(conn); ; {
			var l Looks
			if decoder.Decode(&l) != nil {
				return
			}
			orders <- l
		}
	}()

	fmt.Print(Begin)
	a := &actor{reports: json.NewEncoder(conn)}
	typed, ticks := Keyboard(), time.Tick(tick)
	for {
		select {
		case <-ticks:
			if a.Moves {
				a.moved++
				a.draw()
			}
		case l, ok := <-orders:
			if !ok {
				return nil
			}
			a.Looks, a.asked.Shown = l, true
			a.draw()
		case text, ok := <-typed:
			if !ok {
				return nil
			}
			a.keys.Add(text)
			a.read()
		}
	}
}

// read takes the keys that are whole, and tells of those that tests do not press.
func (a *actor) read() {
	for {
		kind, typed := a.keys.Next()
		switch kind {
		case More:
			return
		case Drawn:
			a.drawn()
			continue
		case Fence:
			a.asked.Fenced = true
			a.draw()
			continue
		}

		a.tell(word{Bytes: []byte(typed)})
		switch kind {
		case PasteEnds:
			a.pasted()
		case Enter:
			a.entered()
		case Text:
			a.Box += typed
		}
	}
}

func (a *actor) tell(w word) {
	if err := a.reports.Encode(w); err != nil {
		os.Exit(0) // the test is over
	}
}

func (a *actor) pasted() {
	switch a.OnPaste {
	case "exit":
		os.Exit(0)
	case "kill-server":
		socket, _, _ := strings.Cut(os.Getenv("TMUX"), ",")
		_ = exec.Command("tmux", "-S", socket, "kill-server").Run()
	case "":
	default:
		a.Screen = a.OnPaste
	}
	a.draw()
}

func (a *actor) entered() {
	if a.Swallow > 0 {
		a.Swallow--
		return
	}
	sent := strings.TrimRight(a.Box, " \n")
	if a.Screen != "" || strings.TrimSpace(sent) == "" {
		return
	}
	a.Box = ""
	a.draw()
	a.tell(word{Sent: &sent})
}

// draw shows the client. The terminal says where its cursor is when it has done that.
func (a *actor) draw() {
	s := Screen{Above: []string{"❯ an older prompt", "", fmt.Sprintf("● Done. %d", a.moved), ""}, Box: a.Box, Busy: a.Works}
	switch a.Screen {
	case DialogScreen:
		s.Instead = Dialog
	case ShellScreen:
		s.Above, s.Instead = nil, []string{"$ "}
	case GlyphScreen:
		s.Above, s.Instead = nil, []string{"~/project on main", "❯ "}
	}
	fmt.Print(s.String() + "\x1b[6n")
	a.drawing++
}

func (a *actor) drawn() {
	a.drawing--
	if a.drawing > 0 {
		return
	}
	if a.asked.Shown {
		a.tell(word{Shown: true})
	}
	if a.asked.Fenced {
		a.tell(word{Fenced: true})
	}
	a.asked = word{}
}
