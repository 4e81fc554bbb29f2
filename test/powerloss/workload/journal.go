package workload

import (
	"path/filepath"
	"strconv"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// facts are the records of the journal: each operation appends one that may be lost, as of a tool
// call, and one that may not, as of a stop.
type facts struct{ journal *journal.Journal }

func newJournal(state string) Part {
	// Small segments: some of them are begun while the power goes.
	return facts{journal.New(filepath.Join(state, "journal"), journal.Limits{SegmentSize: 16 << 10})}
}

func (facts) Name() string { return "journal" }

const toolUse, agentStop = "PreToolUse", "Stop"

func (f facts) Do(n int) error {
	for _, name := range []string{toolUse, agentStop} {
		r := &event.Record{
			Kind: event.Emitted, Event: name, Project: "/p", Session: strconv.Itoa(n),
			Word: &event.Word{Agent: "a", Message: content(name, n)},
		}
		if _, err := f.journal.Append(r); err != nil {
			return err
		}
	}
	return nil
}

func (f facts) Check(acked int) (seen Seen, err error) {
	uses := 0
	for entry, err := range f.journal.Read(journal.Position{}) {
		switch {
		case err != nil:
			return seen, err
		case entry.Damage != nil:
			seen.Refused++
			continue
		case entry.Record == nil || entry.Record.Word == nil:
			return seen, notWritten("the record before %v", entry.Position)
		}
		r := entry.Record
		n, err := strconv.Atoi(r.Session)
		if err != nil {
			return seen, notWritten("the record of session %q", r.Session)
		}
		if err := same(r.Event, n, r.Word.Message); err != nil {
			return seen, err
		}
		// Each stop comes after its own tool call.
		switch {
		case r.Event == toolUse && n == uses+1 && uses == seen.Last:
			uses = n
		case r.Event == agentStop && seen.Refused > 0:
			return seen, damaged("a line before record %d, which was synced with all that came before it", n)
		case r.Event == agentStop && n == seen.Last+1 && uses == n:
			seen.Last = n
		default:
			return seen, lost("record %d of %s comes after %d stops and %d calls", n, r.Event, seen.Last, uses)
		}
	}
	return seen, counted(seen.Last, acked)
}
