package workload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// replaced is a large file that is written whole, in a directory of its own.
type replaced struct{ path string }

func newReplaced(state string) Part {
	return replaced{filepath.Join(state, "replaced", "below", "file")}
}

func (replaced) Name() string { return "replaced" }

func (r replaced) text(n int) string {
	return fmt.Sprintf("%d\n%s", n, strings.Repeat(content("replaced", n), 5))
}

func (r replaced) Do(n int) error { return atomicfile.Write(r.path, []byte(r.text(n)), 0o600) }

func (r replaced) Check(acked int) (seen Seen, err error) {
	text, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return seen, counted(0, acked)
	}
	if err != nil {
		return seen, err
	}
	number, _, _ := strings.Cut(string(text), "\n")
	if seen.Last, err = strconv.Atoi(number); err != nil || string(text) != r.text(seen.Last) {
		return seen, damaged("%d bytes are neither the old file nor the new one", len(text))
	}
	return seen, counted(seen.Last, acked)
}

// panes are the clients of tmux. They are gone after a loss of power, so nothing is promised of
// them but that what is not whole counts as unknown.
type panes struct {
	dir  string
	book presence.Book
}

func newPresence(state string) Part {
	return panes{filepath.Join(state, "presence"), presence.NewBook(state)}
}

func (panes) Name() string { return "presence" }

const panesUsed = 3

func client(n int) presence.Instance {
	return presence.Instance{
		Session: "session", Socket: "/tmp/tmux", PID: 1, Pane: fmt.Sprintf("%%%d", n%panesUsed),
		State: presence.Busy, Since: noon.Add(time.Duration(n) * time.Second), Told: strconv.Itoa(n),
	}
}

func (p panes) Do(n int) error { return p.book.Store(client(n)) }

func (p panes) Check(acked int) (seen Seen, err error) {
	files, err := filepath.Glob(filepath.Join(p.dir, "*.json"))
	if err != nil {
		return seen, err
	}
	all := p.book.All()
	seen.Refused = len(files) - len(all)
	for _, c := range all {
		n, err := strconv.Atoi(c.Told)
		if err != nil || n < 1 || n > acked+1 || c != client(n) {
			return seen, notWritten("the client %+v, after %d operations", c, acked+1)
		}
		seen.Last = max(seen.Last, n)
	}
	return seen, nil
}
