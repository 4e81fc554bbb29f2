package guard

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/gate/keeper"
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
