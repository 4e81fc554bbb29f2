//go:build unix

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// event is a hook payload as the client sent it.
type event struct {
	Seq    int // 1 for the first one recorded on this bench
	Name   string
	Fields map[string]any
	Raw    []byte
}

// Str is a text field; "" when it is absent.
func (e event) Str(field string) string {
	s, _ := e.Fields[field].(string)
	return s
}

// Bool is a yes-or-no field; false when it is absent.
func (e event) Bool(field string) bool {
	b, _ := e.Fields[field].(bool)
	return b
}

func (e event) Session() string { return e.Str("session_id") }

// match picks events.
type match = func(event) bool

// after matches what was recorded later than another event.
func after(earlier event) match { return func(e event) bool { return e.Seq > earlier.Seq } }

// with matches a text field.
func with(field, value string) match { return func(e event) bool { return e.Str(field) == value } }

func (b *bench) recorded() []event {
	var all []event
	for n := 1; ; n++ {
		raw, err := os.ReadFile(filepath.Join(b.records, fmt.Sprintf("%06d.json", n)))
		if errors.Is(err, fs.ErrNotExist) {
			return all
		}
		e := event{Seq: n, Raw: raw}
		if err == nil {
			err = json.Unmarshal(raw, &e.Fields)
		}
		if err != nil {
			b.t.Errorf("recorded payload %d: %v", n, err)
		}
		e.Name = e.Str("hook_event_name")
		all = append(all, e)
	}
}

// Events are the recorded payloads of one event, or of all for "", in order.
func (b *bench) Events(name string) []event {
	return slices.DeleteFunc(b.recorded(), func(e event) bool { return name != "" && e.Name != name })
}

// Names are the events recorded so far, in order.
func (b *bench) Names() []string {
	var names []string
	for _, e := range b.recorded() {
		names = append(names, e.Name)
	}
	return names
}

// Last is the newest event recorded, for use with [after]; its Seq is 0 when there is none.
func (b *bench) Last() event {
	if all := b.recorded(); len(all) > 0 {
		return all[len(all)-1]
	}
	return event{}
}

// WaitEvent gives the first event of the name, past or to come, that all matches accept, and
// ends the test when there is none within the bench's patience.
func (b *bench) WaitEvent(name string, matches ...match) event {
	b.t.Helper()
	e, ok := b.pollEvent(patience, name, matches...)
	if !ok {
		b.t.Fatalf("no such %s in %v; recorded: %s", name, patience, strings.Join(b.Names(), ", "))
	}
	return e
}

func (b *bench) pollEvent(limit time.Duration, name string, matches ...match) (found event, ok bool) {
	ok = poll(limit, func() bool {
		for _, e := range b.Events(name) {
			if !slices.ContainsFunc(matches, func(m match) bool { return !m(e) }) {
				found = e
				return true
			}
		}
		return false
	})
	return found, ok
}

// patience is for a client that has to start on a machine with four times its load; it usually
// needs one second.
const patience = 2 * time.Minute

// poll looks until the condition holds or the limit has passed.
func poll(limit time.Duration, condition func() bool) bool {
	deadline := time.After(limit)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if condition() {
			return true
		}
		select {
		case <-tick.C:
		case <-deadline:
			return condition()
		}
	}
}
