package guard

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// reason tells the agent what to fix: of each command what failed, the project's own words, and the end of what it
// printed. Nothing is to be fixed where no command objects.
func reason(objections []run) string {
	var f keeper.Frame
	for i, r := range objections {
		if left := len(objections) - i; !r.object(&f, i == 0, left) {
			f.Say("\n\nand %d more", left)
			break
		}
	}
	return f.Text
}

// object adds what a command has to say, which shares the room with those after it. It reports whether there is any.
func (r *run) object(f *keeper.Frame, first bool, sharing int) bool {
	const least, more = 60, len("\n\nand 1000 more")
	room := (f.Room() - more) / min(sharing, 5) // of very many the first are named
	if room < least {
		return false
	}
	before := "\n\n"
	if first {
		before = "stopgate: "
	}
	if r.denial != "" {
		f.Say("%s", before)
		f.Add(plain.Words(r.denial), sharing)
		return true
	}

	room -= len(before)
	what := r.failure()
	if r.Message != "" {
		what = keeper.Shorten(what, room/2)
	}
	what = keeper.Shorten(what, room)
	f.Say("%s%s", before, what)
	if room -= len([]rune(what)) + 1; r.Message != "" {
		f.Say("\n%s", plain.Clip(r.Message, room-1))
	}
	if r.Tail != "" && !r.withheld() {
		f.Text += "\n"
		f.Add(plain.Text(r.Tail), sharing)
	}
	return true
}

// failure says what failed.
func (r *run) failure() string {
	if r.withheld() {
		return fmt.Sprintf("`%s` was not run: %v", plain.Line(r.Run), r.Err)
	}
	return fmt.Sprintf("`%s` failed: %s", plain.Line(r.Run), r.Result)
}
