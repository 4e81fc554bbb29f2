package agent

import (
	"errors"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var check = checktest.OK

// A dialog that no hook told of is not waited for for ever, nor is a text in the input box; one
// that a person is asked about is, and so is a client that works.
func TestADialogInTheWay(t *testing.T) {
	state := t.TempDir()
	m := &message{queues: queue.NewStore(state), book: presence.NewBook(state), session: "work", key: "k"}
	is := func(s presence.State) {
		t.Helper()
		check(t, m.book.Store(presence.Instance{Session: "work", Socket: "s", PID: 1, Pane: "%1", State: s, Since: time.Now()}))
	}
	waits := func(in terminal.State) {
		t.Helper()
		if done, err := m.held(in); done || err != nil {
			t.Errorf("%v, %v", done, err)
		}
	}
	is(presence.Asking)
	for range 2 * dialogLooks {
		waits(terminal.Dialog)
	}
	is(presence.Free)
	for range dialogLooks - 1 {
		waits(terminal.Dialog)
	}
	waits(terminal.NoPrompt)
	givesUp := func(in terminal.State, looks int) {
		t.Helper()
		for range looks - 1 {
			waits(in)
		}
		var failure *errand.Failure
		if done, err := m.held(in); !done || !errors.As(err, &failure) {
			t.Errorf("%v, %v", done, err)
		}
	}
	givesUp(terminal.Dialog, dialogLooks)

	for range dialogLooks {
		waits(terminal.Occupied)
	}
	givesUp(terminal.Dialog, dialogLooks)

	is(presence.Busy)
	for range 2 * textLooks {
		waits(terminal.Occupied)
	}
	is(presence.Free)
	givesUp(terminal.Occupied, textLooks)
}
