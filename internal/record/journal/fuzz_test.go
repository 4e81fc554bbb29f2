package journal

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzRead reads two segments of arbitrary bytes; the first has one line with
// a right checksum, which fuzzing alone would not find.
func FuzzRead(f *testing.F) {
	sound := line(f, "call")
	body := bytes.TrimSuffix(sound[len("j1 00000000 "):], []byte("\n"))
	f.Add([]byte(nil), body, uint32(1), sound)
	f.Add(append(sound, sound[:30]...), []byte(`{"v":2}`), uint32(2), []byte("\n\n\x00"))
	f.Add([]byte("j1 \n"), []byte(`{"v":1,"payload":null,"time":"2026-01-01T00:00:00+23:59"}`), uint32(1), sound[:50])
	f.Add(bytes.Repeat([]byte("x"), 70_000), []byte(`{"v":1,"verdicts":[{}],"enums":{"stop_hook_active":false}}`), uint32(1), sound[:len(sound)-1])
	j := tempJournal(f, Limits{})
	f.Fuzz(func(t *testing.T, first, body []byte, version uint32, second []byte) {
		framed := frame(int(version), body)
		plant(t, j, 1, append(bytes.Clone(first), framed...))
		plant(t, j, 2, second)
		entries := readAll(t, j, Position{})
		checkEntries(t, entries)
		for i, e := range entries {
			if i > 5 {
				break // reading on is quadratic
			}
			if diff := cmp.Diff(entries[i+1:], readAll(t, j, e.Position), cmp.Comparer(sameEntries)); diff != "" {
				t.Fatalf("reading on from %v (-all +on):\n%s", e.Position, diff)
			}
		}
	})
}

func sameEntries(a, b []Entry) bool {
	return len(a) == len(b) && (len(a) == 0 || cmp.Equal(a, b))
}

// checkEntries holds what is true of any journal: positions increase, damage ends
// where its entry does, each entry is exactly one of three things, and a record
// that was accepted can be written and read again.
func checkEntries(t *testing.T, entries []Entry) {
	t.Helper()
	var last Position
	for _, e := range entries {
		if e.Position.Compare(last) <= 0 {
			t.Fatalf("position %v after %v", e.Position, last)
		}
		if d := e.Damage; d != nil {
			if end := (Position{d.Start.Segment, d.Start.Offset + d.Length}); end != e.Position || d.Start.Compare(last) < 0 || d.Why == "" {
				t.Fatalf("damage %+v at %v after %v", d, e.Position, last)
			}
		}
		if e.Record != nil {
			checkAgain(t, e)
		}
		kinds := 0
		for _, is := range []bool{e.Record != nil, e.Newer > 0, e.Damage != nil} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			t.Fatalf("entry %+v", e)
		}
		last = e.Position
	}
}

func checkAgain(t *testing.T, e Entry) {
	t.Helper()
	l, err := encodeWhole(e.Record)
	if err != nil {
		t.Fatalf("record %+v: %v", e.Record, err)
	}
	text, ended := bytes.CutSuffix(l, []byte("\n"))
	if !ended || bytes.Contains(text, []byte("\n")) {
		t.Fatalf("record encodes to %q, which is not one line", l)
	}
	d := decode(text, nil)
	if d.record == nil {
		t.Fatalf("record encodes to %q: %s", l, d.damage)
	}
	again, err := encodeWhole(d.record)
	if err != nil || !bytes.Equal(again, l) {
		t.Fatalf("record encodes to %q, then to %q, %v", l, again, err)
	}
}
