package wake

import (
	"encoding/json"
	"time"
)

// The bounds of what a letter keeps, in bytes. A message of Claude Code's comes in
// whole; the queue file has what is left out of a queue.
const (
	maxMessage   = 2 << 20
	maxQuestions = 1 << 20
	maxText      = 64 << 10
	maxList      = 1000 // entries, not bytes
)

// bounded is the letter as it is kept: in the form that receivers rely on, and
// not larger than anybody has use for.
func (l Letter) bounded() Letter {
	l.Time = l.Time.UTC().Truncate(time.Millisecond)
	for _, text := range []*string{&l.Workspace, &l.Headline, &l.Notice, &l.Error} {
		*text = head(*text, maxText)
	}
	l.Body = head(l.Body, maxBody)
	if l.LastAssistantMessage != nil {
		text := Shortened(*l.LastAssistantMessage, maxMessage)
		l.LastAssistantMessage = &text
	}
	l.SuggestedCommands = boundedList(l.SuggestedCommands)
	if len(l.Questions) > maxQuestions || len(l.Questions) > 0 && !json.Valid(l.Questions) {
		// As text: a wake is not lost because somebody's JSON is none.
		l.Questions, _ = json.Marshal(head(string(l.Questions), maxQuestions/2))
	}
	if l.Queue != nil {
		queue := l.Queue.bounded()
		l.Queue = &queue
	}
	return l
}

func (q QueueSummary) bounded() QueueSummary {
	q.Remaining = boundedList(q.Remaining)
	commands := make([]QueueCommand, 0, len(q.Commands))
	room := maxMessage
	for _, c := range q.Commands[:min(len(q.Commands), maxList)] {
		c.Command = head(c.Command, min(maxText, room))
		room -= len(c.Command)
		commands = append(commands, c)
	}
	q.Commands = commands
	return q
}

// boundedList is never nil, for JSON that is always a list.
func boundedList(list []string) []string {
	kept := make([]string, 0, min(len(list), maxList))
	room := maxMessage
	for _, text := range list[:min(len(list), maxList)] {
		text = head(text, min(maxText, room))
		room -= len(text)
		kept = append(kept, text)
	}
	return kept
}
