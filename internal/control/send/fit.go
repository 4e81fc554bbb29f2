package send

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// fit is the letter's message, cut where it is too large for its transport. It is
// composed anew then: a cut at any place would leave a fence open, and instructions
// would read as the text of another model. The whole message is kept in a file, which
// the instructions of the short one name.
func (s Sender) fit(l wake.Letter, limit int, size func(message string) int) (string, error) {
	if size(l.Body) <= limit {
		return l.Body, nil
	}

	path, err := s.keep(l)
	if err != nil {
		return "", err
	}
	// An override that cannot be read has an embedded prompt in its place.
	instructions, _ := wake.Instructions(s.ConfigDir, l.Kind)
	instructions = "This message was shortened. The full text is in the file " + path + ".\n\n" + strings.TrimSpace(instructions)

	var text string
	if l.LastAssistantMessage != nil {
		text = *l.LastAssistantMessage
	}
	for room := min(len(text), limit); room > shortestText; room /= 2 {
		short := wake.Shortened(text, room)
		l.LastAssistantMessage = &short
		if message := wake.Compose(l, instructions); size(message) <= limit {
			return message, nil
		}
	}

	l.LastAssistantMessage, l.SuggestedCommands, l.Questions, l.Queue = nil, nil, nil, nil
	if message := wake.Compose(l, instructions); size(message) <= limit {
		return message, nil
	}
	return "", refused("the message cannot be shortened to %d bytes", limit)
}

// shortestText is the least of a text that is worth showing.
const shortestText = 256

// runDir holds what belongs to sending one letter: the whole message, and what the
// program that delivers it printed.
func (s Sender) runDir(l wake.Letter) string {
	sum := sha256.Sum256([]byte(l.AgentID + "\x00" + l.Key))
	return filepath.Join(s.runs(), hex.EncodeToString(sum[:16]))
}

func (s Sender) runs() string { return filepath.Join(s.StateDir, "wake") }

// keep writes the whole message to a file.
func (s Sender) keep(l wake.Letter) (path string, err error) {
	path = filepath.Join(s.runDir(l), "message.md")
	return path, atomicfile.Replace(path, []byte(l.Body), 0o600)
}

// keepFor is how long the whole of a message that was cut can be read.
const keepFor = 7 * 24 * time.Hour

// prune removes what was kept long enough.
func (s Sender) prune() {
	entries, _ := os.ReadDir(s.runs())
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && s.now().Sub(info.ModTime()) > keepFor {
			_ = os.RemoveAll(filepath.Join(s.runs(), entry.Name()))
		}
	}
}
