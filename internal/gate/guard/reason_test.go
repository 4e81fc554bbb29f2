package guard

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// However many commands fail and however long they are, what is not their output has at most 600 characters, and begins
// with what failed.
func TestTheReasonIsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zé]{1,900}`)
		var all []run
		for range rapid.IntRange(1, 30).Draw(t, "commands") {
			r := run{Command: config.Command{Run: word.Draw(t, "command")}, Result: process.Result{Code: 1, Tail: strings.Repeat("0\n", rapid.IntRange(0, 4000).Draw(t, "output"))}}
			if rapid.Bool().Draw(t, "has words") {
				r.Message = word.Draw(t, "words")
			}
			all = append(all, r)
		}

		text := reason(all)
		if len(text) > keeper.MaxReason+len("\n\nand 1000 more") || !strings.Contains(text, "stopgate: `") || !strings.Contains(text, "failed: exit 1") {
			t.Fatalf("%d bytes: %s", len(text), text)
		}
		own := strings.NewReplacer("0\n", "", "…\n0", "", "\n0", "").Replace(text)
		if n := utf8.RuneCountInString(own); n > keeper.MaxFrame+2*len(all) {
			t.Fatalf("%d characters: %s", n, own)
		}
		if said := strings.Count(text, "failed: exit 1"); said < len(all) && !strings.Contains(text, " more") {
			t.Fatalf("%d of %d: %s", said, len(all), text)
		}
	})
}

// However long a command is, the project's own words about it are said first, and both ends of the command.
func TestALongCommandLeavesRoomForTheProjectsWords(t *testing.T) {
	command := config.Command{Run: "first " + strings.Repeat("é", 900) + " last", Message: "Run make fmt, " + strings.Repeat("and so on ", 90)}
	text := reason([]run{{Command: command, Result: process.Result{Code: 1, Tail: "a.go\n"}}})
	words, what, _ := strings.Cut(text, "\n\n")
	if !strings.HasPrefix(words, "Run make fmt, and so on and so on") || !strings.HasPrefix(what, "stopgate: `first é") || !strings.HasSuffix(what, "é last` failed: exit 1\na.go\n") {
		t.Errorf("it says %q", text)
	}
}

// What a command prints reaches no terminal as it is.
func TestOutputIsMadeHarmless(t *testing.T) {
	for name, r := range map[string]run{
		"output": {Result: process.Result{Code: 1, Tail: "\x1b[2Jred\x07"}},
		"denial": {denial: "\x1b[2Jred\x07"},
	} {
		if text := reason([]run{r}); strings.ContainsAny(text, "\x1b\x07") || !strings.Contains(text, "red") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// A command that was withheld says nothing about the work: an agent is held, and no retry is used up. The journal has
// what was reported beside what objects.
func TestWhatWasWithheldIsNotCounted(t *testing.T) {
	withheld := run{Command: config.Command{Run: "a", OnFailure: config.Block}, Result: process.Result{Code: -1, Err: fmt.Errorf("%w: changed", trust.ErrWithheld)}}
	failed := run{Command: config.Command{Run: "b", OnFailure: config.Block}, Result: process.Result{Code: 1}}
	missing := run{Command: config.Command{Run: "c"}, Result: process.Result{Code: 127}}
	for _, test := range []struct {
		runs      []run
		uncounted bool
	}{
		{[]run{withheld, missing}, true},
		{[]run{failed, missing}, false},
	} {
		v := verdict(test.runs)
		if !v.Blocks() || v.Uncounted != test.uncounted {
			t.Errorf("%+v", v)
		}
		if !strings.Contains(v.Summary, fmt.Sprintf("%q", test.runs[0].Run)) || !strings.Contains(v.Summary, `"c" was not found`) {
			t.Errorf("the journal would say %q", v.Summary)
		}
	}
}
