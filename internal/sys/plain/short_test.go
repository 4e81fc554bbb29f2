package plain

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestClip(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""}, {"abc", "abc"}, {"abcd", "abc…"}, {"äöü", "äöü"}, {"äöüx", "äöü…"},
	} {
		if got := Clip(tt.text, 3); got != tt.want {
			t.Errorf("Clip(%q) = %q", tt.text, got)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text string
		size int
		want string
	}{
		{"abcdef", 6, "abcdef"}, {"abcdefg", 6, "abc…"}, {"aäöü", 6, "aä…"}, {"äöü", 5, "ä…"}, {"abcd", 2, ""},
	} {
		if got := Cut(tt.text, tt.size); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q", tt.text, tt.size, got)
		}
	}
}

func TestLastLine(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a", "a\n b \n\n": "b"} {
		if got := LastLine(text); got != want {
			t.Errorf("LastLine(%q) = %q", text, got)
		}
	}
}

func TestFewAndCount(t *testing.T) {
	items := []string{"a", "b", "c", "d"}
	if got := Few(items, 2); !slices.Equal(got, []string{"a", "b", "and 2 more"}) || items[2] != "c" {
		t.Errorf("%q of %q", got, items)
	}
	if got := Few(items, 4); len(got) != 4 {
		t.Errorf("%q", got)
	}
	if got := Count(1, "file") + ", " + Count(0, "file") + ", " + Count(12, "file"); got != "1 file, 0 files, 12 files" {
		t.Error(got)
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 90 * time.Second: "1m30s", 5 * time.Minute: "5m", time.Hour: "1h", 90 * time.Minute: "1h30m", 3610 * time.Second: "1h0m10s"} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q", d, got)
		}
	}
}

func TestFence(t *testing.T) {
	for text, ticks := range map[string]int{"": 3, "a": 3, "``": 3, "a```b": 4, "````\n`": 5} {
		fenced, n := Fence("text", text)
		mark := strings.Repeat("`", ticks)
		if n != ticks || fenced != mark+"text\n"+text+"\n"+mark+"\n" {
			t.Errorf("Fence(%q) = %q, %d", text, fenced, n)
		}
	}
}
