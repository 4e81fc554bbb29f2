package people

import (
	"errors"
	"strings"

	"github.com/gen2brain/beeep"
)

// Desktop shows messages on the screen.
type Desktop interface {
	// Missing is why there is no desktop, or nil.
	Missing() error
	Show(title, text string) error
}

// Screen is the desktop of whoever runs this process.
type Screen struct{ Environ []string }

// Missing looks whether there is something to show messages.
func (s Screen) Missing() error {
	if why := noDesktop(s.Environ); why != "" {
		return absence("no desktop is available: " + why)
	}
	return nil
}

// Show shows a message.
func (s Screen) Show(title, text string) error {
	beeep.AppName = "stopgate"
	err := beeep.Notify(noOption(title), noOption(markup(text)), "")
	if err != nil && strings.Contains(err.Error(), "was not provided by any .service files") {
		return absence("no desktop is available: no notification service on its bus")
	}
	return err
}

// noOption keeps a text from being an option of the program that shows it, where there is
// only such a program.
func noOption(text string) string {
	if strings.HasPrefix(text, "-") {
		return " " + text
	}
	return text
}

// desktop shows a message, one after the other.
func (n *Notifier) desktop(m Message) error {
	if err := n.opts.Desktop.Missing(); err != nil {
		return err
	}
	n.showing.Lock()
	defer n.showing.Unlock()
	err := n.opts.Desktop.Show(m.Title, m.body())
	var missing absence
	if err == nil || errors.As(err, &missing) {
		return err
	}
	return errors.New(tidy(err.Error()))
}
