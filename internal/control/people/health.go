package people

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// deliveries are what became of a message, by its ways: nil where it was taken.
type deliveries map[way]error

// absence says that there is nothing to send a message to. People are told once, and no
// message fails of it.
type absence string

func (a absence) Error() string { return string(a) }

// failure is the error of a message that nobody took.
func (o deliveries) failure() error {
	var failed []string
	for which, err := range o {
		var missing absence
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &missing):
			failed = append(failed, which.name+": "+err.Error())
		}
	}
	return joined(failed)
}

// joined is one error of several. Its text is a line.
func joined(failed []string) error {
	if len(failed) == 0 {
		return nil
	}
	slices.Sort(failed)
	return errors.New(strings.Join(failed, "; "))
}

// health is which ways failed the last time that they were used.
type health struct {
	tell func(error)

	mu   sync.Mutex
	sick deliveries
	told string
}

// record takes what became of a message, and forgets the ways that are not used any more, where
// it is known which are. It tells what is wrong when that has changed.
func (h *health) record(got deliveries, used map[way]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()

	if h.sick == nil {
		h.sick = deliveries{}
	}
	for which, err := range got {
		h.sick[which] = err
	}

	var failed []string
	for which, err := range h.sick {
		switch {
		case err == nil || used != nil && !used[which]:
			delete(h.sick, which)
		case which == inConfig:
			failed = append(failed, err.Error())
		default:
			failed = append(failed, fmt.Sprintf("%s: %v", which.name, err))
		}
	}

	err, text := joined(failed), ""
	if err != nil {
		text = err.Error()
	}
	if text != h.told {
		h.told = text
		h.tell(err)
	}
}
