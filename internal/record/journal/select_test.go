package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/record/event"
)

func TestSelectTellsOfOtherLinesOnlyWhereTheyEndOrThatTheyAreDamaged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := New(dir, Limits{})
	var ends []Position
	for _, call := range []string{"wanted", "other", "damaged", "wanted"} {
		at, err := j.Append(&event.Record{Call: call, Kind: event.Received, Event: "Stop"})
		check(t, err)
		ends = append(ends, at)
	}
	path := filepath.Join(dir, segmentName(1))
	text, err := os.ReadFile(path)
	check(t, err)
	check(t, os.WriteFile(path, bytes.Replace(text, []byte("damaged"), []byte("DAMAGED"), 1), 0o600))
	n := 0
	for entry, err := range j.Select(Position{}, func(json []byte) bool { return bytes.Contains(json, []byte(`"wanted"`)) }) {
		check(t, err)
		if read, damaged := entry.Record != nil, entry.Damage != nil; read != (n == 0 || n == 3) || damaged != (n == 2) || entry.Position != ends[n] {
			t.Errorf("line %d: %+v", n, entry)
		}
		n++
	}
	if n != len(ends) {
		t.Errorf("%d lines", n)
	}
}
