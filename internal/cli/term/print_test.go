package term

import (
	"testing"
	"time"
)

func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "30m": 30 * time.Minute, "2h": 2 * time.Hour, "3d": 72 * time.Hour, "-1h": -time.Hour,
	} {
		if got, err := parseAge(text); err != nil || got != want {
			t.Errorf("parseAge(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "5", "soon", "d", "1.5d", "200000000d", "-200000000d"} {
		if got, err := parseAge(text); err == nil {
			t.Errorf("parseAge(%q) = %v, not an error", text, got)
		}
	}
}

func TestQuote(t *testing.T) {
	for path, want := range map[string]string{
		"/a/b": "/a/b", "/a b": "'/a b'", "/it's": `'/it'\''s'`, "/a#b": "'/a#b'", "/a~": "'/a~'", "/ä": "/ä", "/{a,b}": "'/{a,b}'",
	} {
		if got := Quote(path); got != want {
			t.Errorf("quote(%q) = %s, not %s", path, got, want)
		}
	}
}
