package daemonapi

import (
	"math"
	"testing"
	"time"
)

func TestAgoIsSaidOfWhatIsOld(t *testing.T) {
	for _, test := range []struct {
		away Away
		want string
	}{
		{Away{}, ""},
		{Away{Heard: 900}, ""}, // this machine
		{Away{Host: "vps"}, ""},
		{Away{Host: "vps", Heard: 9.9}, ""},
		{Away{Host: "vps", Heard: 10}, "10 s ago"},
		{Away{Host: "vps", Heard: 251}, "4 min ago"},
		{Away{Host: "vps", Heard: 7300}, "2 h ago"},
		{Away{Host: "vps", Heard: 5 * 24 * 3600}, "5 days ago"},
		{Away{Host: "vps", Heard: math.NaN()}, "3650 days ago"},
		{Away{Host: "vps", Heard: math.Inf(1)}, "3650 days ago"},
		{Away{Host: "vps", Heard: -1}, "3650 days ago"},
	} {
		if got := test.away.Ago(); got != test.want {
			t.Errorf("%+v: %q, want %q", test.away, got, test.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", 59 * time.Minute: "59 min", time.Hour: "1 h", 47 * time.Hour: "47 h", 48 * time.Hour: "2 days",
	} {
		if got := Span(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

func TestFleetInWords(t *testing.T) {
	f := Fleet{Name: "lab", Member: "laptop", Connected: true, Members: []FleetMember{
		{Name: "laptop", State: "up"},
		{Name: "vps", State: "silent", Heard: 250},
		{Name: "desk", State: "asleep", Heard: 7200},
		{Name: "pi", State: "lost", Heard: 3 * 24 * 3600},
		{Name: "nas", State: "stopped", Heard: 600},
		{Name: "new", State: "unknown"},
	}}
	if got, want := f.Line(), "lab: 6 machines, 1 lost, 1 silent, 1 stopped, 1 asleep, 1 not seen yet"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	words := map[string]string{
		"laptop": "", "vps": "vps has not reported for 4 min", "desk": "desk has been asleep for 2 h",
		"pi": "pi is lost: it has not reported for 3 days", "new": "new has never reported",
		"nas": "nas was stopped 10 min ago",
	}
	for name, want := range words {
		if m, found := f.Find(name); !found || m.Why() != want {
			t.Errorf("%s: %t, %q, want %q", name, found, m.Why(), want)
		}
	}

	f.Connected = false
	if got, want := f.Line(), "lab: 6 machines, not connected"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := (&Fleet{Name: "lab"}).Line(), "lab: not connected"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if away := f.Away(); len(away) > 0 {
		t.Errorf("without a connection it says that %v are away", away)
	}
}
