package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// forwards and backwards read a conversation in parts.
func forwards(t *testing.T, path string, most int) (all []string) {
	t.Helper()
	for at := int64(0); ; {
		p, err := After(path, at, most)
		check(t, err)
		for _, e := range p.Events {
			all = append(all, mark(e.Kind)+e.Text)
		}
		if p.Next == at {
			return all
		}
		at = p.Next
	}
}

func backwards(t *testing.T, path string, most int) (all []string) {
	t.Helper()
	for at := int64(0); ; {
		p, err := Before(path, at, most)
		check(t, err)
		var some []string
		for _, e := range p.Events {
			some = append(some, mark(e.Kind)+e.Text)
		}
		all = slices.Concat(some, all)
		if p.From == 0 {
			return all
		}
		if at > 0 && p.From >= at {
			t.Fatalf("before %d is %d", at, p.From)
		}
		at = p.From
	}
}

// In whichever parts a conversation is read, forwards or backwards, it is the same.
func TestPartsAreTheWhole(t *testing.T) {
	real := filepath.Join("..", "..", "gate", "supervisor", "testdata", "transcript", "session.jsonl")
	long := filepath.Join(t.TempDir(), "long.jsonl")
	var text strings.Builder
	for i := range 150 { // several windows, and a line that is longer than one
		size := 5000
		if i == 70 {
			size = 3 * window
		}
		fmt.Fprintf(&text, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"%d %s"},{"type":"tool_use","id":"q%d","name":"AskUserQuestion","input":{}}]}}`+"\n", i, strings.Repeat("x", size), i)
		fmt.Fprintf(&text, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"q%d","content":"yes %d"}]}}`+"\n", i, i)
	}
	check(t, os.WriteFile(long, []byte(text.String()), 0o600))

	for _, path := range []string{real, long} {
		var c Conversation
		var want []string
		f := Follower{Path: path}
		check(t, f.Next(func(line []byte) { want = append(want, told(&c, string(line))...) }))
		for _, most := range []int{1, 7, 100, 5000} {
			if most < 100 && path == long {
				continue // each part reads a window
			}
			if diff := cmp.Diff(want, forwards(t, path, most)); diff != "" {
				t.Errorf("%d at a time: %.2000s", most, diff)
			}
			if diff := cmp.Diff(want, backwards(t, path, most)); diff != "" {
				t.Errorf("%d at a time, backwards: %.2000s", most, diff)
			}
		}
	}
}

// A line that is being written comes when it is whole, and what was answered between two looks is an
// answer.
func TestPartsOfAGrowingConversation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	first := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"q","name":"AskUserQuestion","input":{"questions":[{"question":"Which?"}]}}]}}` + "\n"
	second := `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"q","content":"Red"}]}}` + "\n"
	check(t, os.WriteFile(path, []byte(first+second[:40]), 0o600))
	p, err := Before(path, 0, 10)
	check(t, err)
	if len(p.Events) != 1 || p.Next != int64(len(first)) || p.From != 0 || p.Size != int64(len(first)+40) {
		t.Fatalf("%+v", p)
	}
	again, err := After(path, p.Next, 10)
	check(t, err)
	if len(again.Events) != 0 || again.Next != p.Next {
		t.Fatalf("%+v", again)
	}
	check(t, os.WriteFile(path, []byte(first+second), 0o600))
	again, err = After(path, p.Next, 10)
	check(t, err)
	if len(again.Events) != 1 || again.Events[0].Kind != Answer || again.Events[0].Text != "Red" || again.Next != again.Size {
		t.Fatalf("%+v", again)
	}

	for _, at := range []int64{-5, 3, 1 << 40} { // what no part said
		if _, err := After(path, at, 10); err != nil {
			t.Errorf("after %d: %v", at, err)
		}
		if _, err := Before(path, at, 10); err != nil {
			t.Errorf("before %d: %v", at, err)
		}
	}
}
