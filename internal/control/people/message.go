package people

import (
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Message is what a person is told.
type Message struct {
	Title    string
	Text     string // why, in one sentence
	Project  string // its root
	Decision string // the id of what waits for an answer; empty where nothing does
	Link     string // to the page that shows it; empty where there is none
	Answers  []Answer
}

// Answer is a link that answers a decision with an option, from any device.
type Answer struct{ Option, URL string }

// What is kept of a message: some services refuse long ones.
const (
	maxTitle = 200 // characters
	maxText  = 500
)

// plain is the message in which everything is one line: a title goes into headers, and
// what an agent has written must not look like a line of ours.
func (m Message) plain(home string) Message {
	m.Title = plain.Fit(plain.Line(m.Title), maxTitle)
	m.Text = plain.Fit(plain.Line(m.Text), maxText)
	m.Decision = plain.Line(m.Decision)
	m.Project = plain.Line(atHome(m.Project, home))
	return m
}

// body is everything but the title.
func (m Message) body() string {
	lines := []string{m.Text}
	if m.Decision != "" {
		lines = append(lines, "Answer with: stopgate decision answer "+m.Decision+" …")
	}
	if m.Link != "" {
		lines = append(lines, "Open: "+m.Link)
	}
	if m.Project != "" {
		lines = append(lines, "Project: "+m.Project)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// whole is the message for whoever knows no titles.
func (m Message) whole() string { return strings.TrimSpace(m.Title + "\n" + m.body()) }

// atHome writes a path as people do.
func atHome(path, home string) string {
	if home == "" || path == "" {
		return path
	}
	if below, err := filepath.Rel(home, path); err == nil && below != "." && filepath.IsLocal(below) {
		return filepath.Join("~", below)
	}
	return path
}
