package standin

import (
	"os"
	"regexp"
	"strings"
)

// Kind is what a key means.
type Kind int

// The kinds. More is not a key: the rest is still to come.
const (
	More Kind = iota
	Text
	PasteBegins
	PasteEnds
	Enter
	Fence // only tests press it
	Drawn // the terminal says that it has drawn everything
)

const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
	fence       = "\x01"
)

var drawnPattern = regexp.MustCompile(`^\x1b\[\d+;\d+R`)

// Keys are those that were typed and not taken yet.
type Keys struct {
	input   string
	pasting bool
}

// Add adds what the terminal gave.
func (k *Keys) Add(text string) { k.input += text }

// Next takes a key, or as much text as there is, and gives it as it was typed.
func (k *Keys) Next() (kind Kind, typed string) {
	switch {
	case k.input == "":
		return More, ""
	case drawnPattern.MatchString(k.input):
		return Drawn, k.take(len(drawnPattern.FindString(k.input)))
	case strings.HasPrefix(k.input, pasteBegins):
		k.pasting = true
		return PasteBegins, k.take(len(pasteBegins))
	case strings.HasPrefix(k.input, pasteEnds):
		k.pasting = false
		return PasteEnds, k.take(len(pasteEnds))
	case strings.HasPrefix(k.input, "\x1b") && len(k.input) < len(pasteBegins):
		return More, ""
	case !k.pasting && strings.HasPrefix(k.input, fence):
		return Fence, k.take(1)
	case !k.pasting && strings.HasPrefix(k.input, "\r"):
		return Enter, k.take(1)
	}

	end := strings.IndexAny(k.input[1:], "\x1b\r"+fence) + 1
	if end == 0 {
		end = len(k.input)
	}
	return Text, k.take(end)
}

func (k *Keys) take(n int) (typed string) {
	typed, k.input = k.input[:n], k.input[n:]
	return typed
}

// Escape takes the key Escape where nothing follows it.
func (k *Keys) Escape() bool {
	if k.input != "\x1b" {
		return false
	}
	k.input = ""
	return true
}

// Keyboard gives what is typed, and is closed when the terminal is gone.
func Keyboard() <-chan string {
	typed := make(chan string)
	go func() {
		defer close(typed)
		for buf := make([]byte, 1<<16); ; {
			n, err := os.Stdin.Read(buf)
			if err != nil {
				return
			}
			typed <- string(buf[:n])
		}
	}()
	return typed
}
