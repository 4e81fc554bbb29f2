package term

import (
	"errors"
	"testing"
)

func TestPagerOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pager, term string
		less        bool
		want        string
	}{
		{"", "xterm", true, "less -FRX"},
		{"", "xterm", false, ""},
		{"", "dumb", true, ""},
		{"more -s", "xterm", true, "more -s"},
		{"cat", "xterm", true, ""},
	} {
		getenv := func(name string) string { return map[string]string{"PAGER": test.pager, "TERM": test.term}[name] }
		lookPath := func(string) (string, error) {
			if !test.less {
				return "", errors.New("not found")
			}
			return "less", nil
		}
		if got := pagerOf(getenv, lookPath); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
