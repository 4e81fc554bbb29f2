package journal

import (
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/record/event"
)

// What a machine had not written when it lost power is told apart from damage by the boot of the
// records around it.
func TestIssue20LinesThatWereCutOffByALossOfPower(t *testing.T) {
	if boot() == "" {
		t.Skip("this system does not tell its boots apart")
	}
	const zeros, half, other = "zeros", "half", "other" // lines that are none
	// A record is a letter for the boot that wrote it; a capital one is durable.
	for _, test := range []struct {
		lines  string
		cut    int
		damage int
	}{
		{"A " + zeros, 1, 0}, // the machine was booted since
		{"A " + zeros + " b", 1, 0},
		{"A " + zeros + " B", 1, 0},
		{"A a " + zeros + " " + half + " a b", 2, 0},
		{"A " + half + " B", 1, 0},
		{zeros + " A", 1, 0},
		{zeros, 1, 0},
		{"A " + zeros + " A", 0, 1}, // synced with all before it
		{"A " + zeros + " a A b", 0, 1},
		{"A " + half + " A", 0, 1}, // its writer was killed
		{half + " A", 0, 1},
		{"A " + other + " B", 0, 1},
		{"A " + zeros + " now", 1, 0},
		{"now " + zeros, 0, 1}, // the power was not lost since
		{"A " + zeros + " none", 0, 1},
		{"A " + zeros + " B " + zeros + " C " + zeros + " C", 2, 1},
	} {
		j := tempJournal(t, Limits{})
		mustAppend(t, j, event.Record{}) // makes the file
		var text []byte
		for word := range strings.FieldsSeq(test.lines) {
			switch word {
			case zeros:
				text = append(text, strings.Repeat("\x00", 100)+"\n"...)
			case half:
				text = append(text, string(line(t, "x")[:40])+"\n"...)
			case other:
				text = append(text, "other\n"...)
			default:
				text = append(text, recordOf(t, word)...)
			}
		}
		check(t, os.WriteFile(j.path(segmentName(1)), text, 0o600))
		report, err := j.Verify(t.Context())
		if err != nil || len(report.Cut) != test.cut || len(report.Damage) != test.damage {
			t.Errorf("%s: cut %v, damage %v, %v", test.lines, report.Cut, report.Damage, err)
		}
	}
}

func recordOf(t *testing.T, word string) []byte {
	t.Helper()
	r := event.Record{Version: event.Version, Event: "PreToolUse", Project: "/p", Boot: strings.ToLower(word)}
	if word != r.Boot {
		r.Event = "Stop"
	}
	switch word {
	case "now":
		r.Boot = boot()
	case "none":
		r.Boot, r.Event = "", "Stop"
	}
	text, err := encode(&r)
	check(t, err)
	return text
}
