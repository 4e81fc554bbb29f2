package guard

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// reason tells the agent what to fix: of each command the project's own words, what failed, and the end of what it
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
	before, name := "\n\n", ""
	if first {
		before, name = "", "stopgate: "
	}
	if r.denial != "" {
		f.Say("%s%s", before, name)
		f.Add(plain.Words(r.denial), sharing)
		return true
	}

	room -= len(before) + len(name)
	what := r.failure()
	if r.Message != "" {
		what = keeper.Shorten(what, room/2)
		message := plain.Clip(r.Message, room-len([]rune(what))-len("\n\n")-1)
		f.Say("%s%s", before, message)
		before, room = "\n\n", len([]rune(what))
	}
	f.Say("%s%s%s", before, name, keeper.Shorten(what, room))
	if r.Tail != "" {
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
