//go:build unix && !darwin

package people

import "testing"

func TestDesktopText(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                 "plain",
		"-n":                    " -n",
		"a < b && <a href=x>":   "a &lt; b &amp;&amp; &lt;a href=x&gt;",
		"--hint=<b>":            " --hint=&lt;b&gt;",
		"Agent needs attention": "Agent needs attention",
	} {
		if got := noOption(markup(text)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDesktopByItsBus(t *testing.T) {
	if err := (Screen{Environ: []string{"DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere"}}).Missing(); err != nil {
		t.Error(err)
	}
}
