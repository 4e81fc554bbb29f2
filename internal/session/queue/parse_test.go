package queue

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What parses is written as it was read, and no event makes of it what does not parse.
func FuzzParse(f *testing.F) {
	f.Add([]byte(seedQueue))
	f.Add([]byte(`{"status":"cancelled","commands":[{"id":1,"status":"done","awaits":{"hook":"x"},"completed_at":"0000-01-01T00:00:00+01:00"}],"stopgate":null}`))
	const odd = "a\x00<\u2028"
	running := after(fresh("/clear", odd, "/compact"), Begun{1}, Pressed{1}, SessionStart{"clear", "c2"}, Begun{2}, Pressed{2}, Prompt{"p1", odd})
	for _, o := range []Transition{running, after(running.Queue, SessionEnd{"other"}), after(running.Queue, StopFailure{"p1", "x"}), after(running.Queue, Prompt{"p2", "x"})} {
		f.Add([]byte(text(f, o.Queue)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := Parse(data)
		if err != nil {
			return
		}
		first := text(t, q)
		again, err := Parse([]byte(first))
		if err != nil {
			t.Fatalf("%v:\n%s", err, first)
		}
		if diff := cmp.Diff(first, text(t, again)); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
		for name, e := range rowEvents(q.Commands[0].Command) {
			o := Apply(q, e, noon)
			if text(t, q) != first {
				t.Fatalf("%s changed its argument", name)
			}
			if _, err := Parse([]byte(text(t, o.Queue))); err != nil {
				t.Fatalf("%s makes of\n%s\nwhat is no queue: %v", name, first, err)
			}
			if !o.Changed && text(t, o.Queue) != first {
				t.Fatalf("%s does not own up to its change", name)
			}
		}
	})
}
