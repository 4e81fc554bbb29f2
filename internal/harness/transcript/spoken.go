package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Spoken copies a transcript without what Claude Code has told the agent on its own: the
// project's memory and rules, the list of its skills and agents, the state of git. A client
// that goes on with the copy looks for these anew, in the places that it is given then.
//
// Lines of kinds that are not known are left out too: in 2.1.325 some hold whole requests.
func Spoken(to io.Writer, from io.Reader) error {
	out := bufio.NewWriterSize(to, 1<<16)
	copying := spoken{to: out, parents: map[string]string{}}
	if err := Lines(from, copying.line); err != nil {
		return err
	}
	if copying.err != nil {
		return copying.err
	}
	return out.Flush()
}

type spoken struct {
	to      io.Writer
	parents map[string]string // of the lines that were left out
	err     error
}

// chained is what makes a conversation of lines: each names the one before it.
type chained struct {
	kind, uuid, parent, logicalParent, attachment string
}

// read reads a line. Only its outermost members are looked at: the rest is megabytes.
func (c *chained) read(line []byte) (ok bool) {
	members, ok := rawjson.Map(line)
	c.kind, c.uuid = text(members["type"]), text(members["uuid"])
	c.parent, c.logicalParent = text(members["parentUuid"]), text(members["logicalParentUuid"])
	attachment, _ := rawjson.Map(members["attachment"])
	c.attachment = text(attachment["type"])
	return ok
}

// text is a string; empty for any other value.
func text(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}

func (s *spoken) line(line []byte) {
	var c chained
	if s.err != nil || !c.read(line) {
		return
	}
	if !c.spoken() {
		if c.uuid != "" {
			s.parents[c.uuid] = c.parent
		}
		return
	}
	for _, link := range []struct{ name, to string }{{"parentUuid", c.parent}, {"logicalParentUuid", c.logicalParent}} {
		if kept := s.kept(link.to); kept != link.to {
			line = relinked(line, link.name, kept)
		}
	}
	if _, s.err = s.to.Write(bytes.TrimRight(line, "\n")); s.err == nil {
		_, s.err = s.to.Write([]byte("\n"))
	}
}

// spoken reports whether a person or the agent said it, or a tool answered so.
func (c *chained) spoken() bool {
	if c.kind == "attachment" {
		return slices.Contains(mentioned, c.attachment)
	}
	return slices.Contains([]string{"user", "assistant", "system", "summary"}, c.kind)
}

// mentioned are the attachments by which a person said something: a prompt that was typed
// while the agent was at work, and what a prompt names with "@" or shows in an editor.
var mentioned = []string{
	"queued_command", "file", "directory", "compact_file_reference", "pdf_reference", "mcp_resource",
	"selected_lines_in_ide", "plan_file_reference",
}

// kept is the nearest line before one that is in the copy; empty: there is none.
func (s *spoken) kept(uuid string) string {
	// Each line names an earlier one; the bound is for a file that says otherwise.
	for range len(s.parents) {
		parent, left := s.parents[uuid]
		if !left {
			break
		}
		uuid = parent
	}
	return uuid
}

// relinked is the line with another line before it.
func relinked(line []byte, name, uuid string) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil {
		return line // not valid JSON: Claude Code passes over it
	}
	members[name] = json.RawMessage("null")
	if uuid != "" {
		members[name], _ = json.Marshal(uuid)
	}
	text, err := json.Marshal(members)
	if err != nil {
		return line
	}
	return text
}

// Patience is how long Claude Code may take to write down what was said last.
// Measured: a tenth of a second.
const Patience = 2 * time.Second

// Said reports whether the transcript has come to what the agent said last. It lags.
func Said(path, message string) bool {
	text, err := Tail(path, tailSize)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(text) {
		if says(line, message) {
			return true
		}
	}
	return false
}

// says reports whether a line is this message of the agent.
func says(line []byte, message string) bool {
	var e Entry
	if !bytes.Contains(line, []byte(`"assistant"`)) || json.Unmarshal(line, &e) != nil || e.Type != Assistant {
		return false
	}
	said := promptText(e.Message.Content)
	return said != "" && said == promptText(asJSON(message))
}

func asJSON(text string) json.RawMessage {
	encoded, _ := json.Marshal(text)
	return encoded
}
