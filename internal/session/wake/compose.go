package wake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// maxBody bounds a message: OpenClaw's HTTP hooks take 256 KiB of JSON.
const maxBody = 200 << 10

// The bounds of what stands beside the last message, in bytes. Together they leave
// it more than 30 kB.
const (
	valueSize     = 500
	headlineSize  = 4 << 10
	commandSize   = 200
	maxCommands   = 100
	noticeSize    = 8 << 10
	errorSize     = 8 << 10
	suggestedSize = 16 << 10
	questionsSize = 32 << 10
)

// timeLayout is RFC 3339 with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// Compose writes the message for the agent: what is known for certain first, what
// others wrote second, fenced and marked as such, and the instructions last. It
// has at most [maxBody] bytes.
func Compose(l Letter, instructions string) string {
	before := l.metadata() + l.news() + l.noticed() + l.failure()
	after := l.suggestions() + l.asked() + "\n## Instructions\n\n" + head(strings.TrimSpace(instructions), maxInstructions) + "\n"
	return before + l.lastMessage(maxBody-len(before)-len(after)) + after
}

func (l *Letter) metadata() string {
	var b strings.Builder
	b.WriteString("## Event Metadata\n\n")
	for _, value := range [][2]string{
		{"Event", l.Event},
		{"Kind", string(l.Kind)},
		{"Session", l.Session},
		{"Agent", l.AgentID},
		{"Workspace", l.Workspace},
		{"Timestamp", l.Time.UTC().Format(timeLayout)},
		{"Message id", l.Key},
	} {
		if value[1] != "" {
			fmt.Fprintf(&b, "- %s: %s\n", value[0], line(value[1], valueSize))
		}
	}
	return b.String()
}

// news is what became of a queue, in our own words.
func (l *Letter) news() string {
	var b strings.Builder
	switch {
	case l.Queue != nil:
		b.WriteString("\n## Queue\n\n")
	case l.Headline != "":
		b.WriteString("\n## What Happened\n\n")
	}
	if l.Headline != "" {
		b.WriteString(sentence(l.Headline, headlineSize) + "\n")
	}
	if l.Queue != nil {
		l.Queue.write(&b)
	}
	return b.String()
}

func (q *QueueSummary) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n- Queue file: %s\n- Completed: %d/%d\n", line(q.Path, headlineSize), q.Completed, q.Total)
	if len(q.Commands) > 0 {
		b.WriteString("\n")
	}
	for _, c := range q.Commands[:min(len(q.Commands), maxCommands)] {
		fmt.Fprintf(b, "%d. [%s] %s\n", c.ID, line(c.Status, valueSize/10), line(c.Command, commandSize))
	}
	if more := len(q.Commands) - maxCommands; more > 0 {
		fmt.Fprintf(b, "\n… and %d more, which the queue file has.\n", more)
	}
}

func (l *Letter) noticed() string {
	if l.Notice == "" {
		return ""
	}
	return "\n## Notice\n\n" + fence("`notice`: what Claude Code said of it.", "text", quotable(l.Notice, noticeSize))
}

func (l *Letter) failure() string {
	if l.Error == "" {
		return ""
	}
	return "\n## Error\n\n" + fence("`error`: what went wrong.", "text", quotable(l.Error, errorSize))
}

func (l *Letter) lastMessage(size int) string {
	const title = "\n## Last Assistant Message\n\n"
	switch {
	case l.LastAssistantMessage == nil:
		return ""
	case *l.LastAssistantMessage == "":
		return title + "`last_assistant_message` is empty.\n"
	}
	const about = "`last_assistant_message`: what Claude Code said last."
	size -= len(title) + len(about) + fenceSize
	return title + fence(about, "text", quotable(*l.LastAssistantMessage, size))
}

func (l *Letter) suggestions() string {
	const title = "\n## Suggested Commands\n\n"
	switch {
	case len(l.SuggestedCommands) > 0:
		about := "`suggested_commands`: the commands found in that text."
		list, left := l.SuggestedCommands, 0
		text := array(list)
		for len(text) > suggestedSize {
			list = list[:len(list)/2]
			left = len(l.SuggestedCommands) - len(list)
			text = array(list)
		}
		if left > 0 {
			about += fmt.Sprintf(" The last %d are left out.", left)
		}
		return title + fence(about, "json", quotable(text, suggestedSize))
	case l.LastAssistantMessage != nil:
		return title + "`suggested_commands` is empty: no command was found in that text.\n"
	}
	return ""
}

func (l *Letter) asked() string {
	if len(l.Questions) == 0 {
		return ""
	}
	var text bytes.Buffer
	if err := json.Indent(&text, l.Questions, "", "  "); err != nil {
		text.Reset()
		text.Write(l.Questions)
	}
	return "\n## Questions\n\n" + fence("`questions`: what Claude Code asks.", "json", quotable(text.String(), questionsSize))
}

// array is a list as JSON that people can read.
func array(list []string) string {
	text, err := rawjson.Marshal(list)
	if err != nil {
		panic(err) // strings always have a JSON form
	}
	return string(text)
}
