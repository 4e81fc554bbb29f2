package config

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/document"
)

const notifyText = `notify:
  command: say
  desktop: true
  urls: ["ntfy://ntfy.sh/a", generic+https://example.com/x]
  quiet: {from: 22:00, to: "07:05"}
  projects:
    - path: ~/code/secret
      muted: true
    - path: ~/code
      command: ""
      urls: [slack://x@y]
      quiet: off
    - path: /srv
      desktop: false
      urls:
      quiet: {from: 00:00, to: 23:59}
`

func TestNotify(t *testing.T) {
	got, err := ParseGlobal("config.yml", []byte(notifyText))
	check(t, err)
	general := Ways{Command: "say", Desktop: true, URLs: []string{"ntfy://ntfy.sh/a", "generic+https://example.com/x"}, Quiet: Quiet{22 * 60, 7*60 + 5}}
	want := Notify{Ways: general, Projects: []ProjectNotify{
		{Path: "~/code/secret", Muted: true},
		{Path: "~/code", Command: new(""), URLs: new([]string{"slack://x@y"}), Quiet: new(Quiet{})},
		{Path: "/srv", Desktop: new(false), URLs: new([]string{}), Quiet: new(Quiet{0, 23*60 + 59})},
	}}
	if diff := cmp.Diff(want, got.Notify); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for i, want := range []Ways{
		{Command: "say", Desktop: true, URLs: general.URLs, Quiet: general.Quiet, Muted: true},
		{Desktop: true, URLs: []string{"slack://x@y"}},
		{Command: "say", URLs: []string{}, Quiet: Quiet{0, 23*60 + 59}},
	} {
		if diff := cmp.Diff(want, got.Notify.Projects[i].Override(general)); diff != "" {
			t.Errorf("project %d (-want +got)\n%s", i, diff)
		}
	}
}

func TestNotifyPathMayBeTheHome(t *testing.T) {
	got, err := ParseGlobal("config.yml", []byte("notify: {projects: [{path: ~/a}, {path: '~'}]}"))
	if err != nil || len(got.Notify.Projects) != 2 || got.Notify.Projects[1].Path != "~" {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = ParseGlobal("config.yml", []byte("notify:\n  projects:\n    - path: '~'\n    - path: ~/a\n"))
	if want := `config.yml:4:13: path: is never used: "~" on line 3 matches first`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A slip in a service is one before a + too.
func TestMisspeltServiceBeforeAPlus(t *testing.T) {
	_, err := ParseGlobal("config.yml", []byte("notify: {urls: ['generix+https://h/x']}"))
	if want := `config.yml:1:17: entry 1 of urls: "generix" is not a service`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestLifecycleAndPrices(t *testing.T) {
	got, err := ParseGlobal("config.yml", []byte("lifecycle: {when_daemon_down: block, max_agents: 3}\n"+
		"prices: [{model: claude-x-*, input: 1, output: 2.5}, {model: y, input: 0, output: 0, cache_read: 0, cache_write: 1}]\n"))
	check(t, err)
	want := defaultGlobal()
	want.Exists = true
	want.Lifecycle = Lifecycle{WhenDaemonDown: BlockWhenDown, MaxAgents: 3}
	want.Prices = []Price{{Model: "claude-x-*", Input: 1, Output: 2.5}, {Model: "y", CacheRead: new(0.0), CacheWrite: new(1.0)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Whatever is wrong with a file, no token in it is shown.
func TestNoSecretInAFault(t *testing.T) {
	for _, name := range []string{"notify", "notify-syntax"} {
		for _, ending := range []string{".golden", ".yml"} {
			text, err := os.ReadFile("testdata/faults/global/" + name + ending)
			check(t, err)
			if shown := strings.Contains(string(text), "SECRET"); shown != (ending == ".yml") {
				t.Errorf("%s%s: %v", name, ending, shown)
			}
		}
	}
	for _, line := range strings.Split(notifyText, "\n") {
		// Each line is made wrong in some way that shows it.
		for _, wrong := range []string{line + " }", line + ": x", strings.Replace(line, ":", ": [", 1), "  " + line, strings.Replace(line, "urls", "url", 1)} {
			text := strings.Replace(notifyText, line+"\n", wrong+"\n", 1)
			_, err := ParseGlobal("config.yml", []byte(text))
			faults, ok := err.(*document.Faults)
			if ok && (strings.Contains(faults.Detail(), "ntfy.sh") || strings.Contains(faults.Error(), "ntfy.sh") || strings.Contains(faults.Detail(), "x@y")) {
				t.Errorf("%s", faults.Detail())
			}
		}
	}
}

func TestKnownServicesHaveEachAPlace(t *testing.T) {
	if all := Services(); !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Error(all)
	}
	for _, url := range []string{"NTFY://ntfy.sh/x", "unheard-of://x", "smtp://u:p@h:25/?from=a&to=b", "generic://h", "generic+http://h"} {
		if _, err := ParseGlobal("config.yml", []byte("notify: {urls: ['"+url+"']}")); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func FuzzParseGlobal(f *testing.F) {
	f.Add([]byte(notifyText))
	for _, name := range []string{"notify", "notify-syntax", "several"} {
		text, err := os.ReadFile("testdata/faults/global/" + name + ".yml")
		check(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		global, err := ParseGlobal("config.yml", data)
		if err != nil {
			checkFaults(t, err.(*document.Faults), string(data))
			return
		}
		again, err := ParseGlobal("config.yml", data)
		if diff := cmp.Diff(global, again); diff != "" || err != nil {
			t.Fatalf("not the same twice: %v\n%s", err, diff)
		}
		for _, p := range global.Notify.Projects {
			if ways := p.Override(global.Notify.Ways); ways.Quiet.From < 0 || ways.Quiet.To >= 24*60 || p.Path == "" {
				t.Fatalf("%+v", p)
			}
		}
	})
}
