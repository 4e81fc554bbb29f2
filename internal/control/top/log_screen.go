package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// logLines are the end of the log, or what the person has scrolled to.
func (s *State) logLines() []string {
	height := max(0, s.body()-1)
	state := "following"
	switch {
	case s.log.err != nil:
		state = line(s.log.err.Error())
	case s.log.up > 0:
		state = fmt.Sprintf("%d lines below; G follows", s.log.up)
	case s.log.host != "":
		state = "its end; a log on " + line(s.log.host) + " is not followed"
	case s.log.ended:
		state = "ended"
	}
	lines := []string{bold(cut("log of "+line(s.log.title)+"  ("+state+")", s.Width))}
	last := max(0, len(s.log.lines)-s.log.up)
	for _, text := range s.log.lines[max(0, last-height):last] {
		lines = append(lines, cut(s.logLine(text), s.Width))
	}
	return lines
}

// logLine is a line of a log with its time as people read it.
func (s *State) logLine(text string) string {
	text = line(text)
	stamp, rest, _ := strings.Cut(text, " ")
	if at, err := time.Parse(time.RFC3339, stamp); err == nil {
		return plain.Clock(at, s.Now) + " " + rest
	}
	return text
}
