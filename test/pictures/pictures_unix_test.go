//go:build unix

package pictures

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The recording shows what an agent and its user are told today when a stop is blocked and then allowed.
// Record it again with "make pictures" when this fails.
func TestStopPictureIsUpToDate(t *testing.T) {
	if *update {
		save(t, "stop", "Claude Code says it is done; stopgate blocks the stop because a test fails, and allows it once the test passes", filmColumns, cut(t, record(t)))
	}
	screens := open(t, "stop").Screens

	s := newStage(t)
	s.run("stopgate", "init", "--yes", "--check", "go test ./...")
	s.edit(before, wrong)
	blocked := s.stop("first")
	wantShown(t, screens, strings.ReplaceAll(blocked.Reason, s.home, shownHome))
	s.edit("sum > 100", "sum >= 100")
	wantShown(t, screens[len(screens)-1:], s.stop("first").SystemMessage)
}

// The stills show what the commands print today.
func TestStillsAreUpToDate(t *testing.T) {
	taken := photograph(t)
	for _, still := range stills {
		if *update {
			save(t, still.name, "Output of "+still.command, stillColumns, []Frame{{Screen: taken[still.name]}})
		}
		shown := open(t, still.name).Screens
		if diff := cmp.Diff(timeless(shown[0]), timeless(taken[still.name].String())); diff != "" {
			t.Errorf("docs/pictures/%s.svg is not what %q prints; run make pictures (-shown +printed):\n%s", still.name, still.command, diff)
		}
	}
}

func save(t *testing.T, name, title string, columns int, frames []Frame) {
	t.Helper()
	check(t, os.MkdirAll(folder, 0o755))
	check(t, os.WriteFile(filepath.Join(folder, name+".svg"), []byte(SVG(title, columns, frames)), 0o644))
}

func open(t *testing.T, name string) Picture {
	t.Helper()
	svg, err := os.ReadFile(filepath.Join(folder, name+".svg"))
	check(t, err)
	picture, err := Read(string(svg))
	check(t, err)
	return picture
}

// wantShown demands that one of the screens shows a text, however its lines are broken.
func wantShown(t *testing.T, screens []string, text string) {
	t.Helper()
	want := timeless(text)
	if want == "" {
		t.Error("the program says nothing")
	}
	if !slices.ContainsFunc(screens, func(screen string) bool { return strings.Contains(timeless(screen), want) }) {
		t.Errorf("docs/pictures/stop.svg does not show %q; run make pictures", text)
	}
}

var (
	date     = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[ T]?\d{2}:\d{2}(:\d{2})?|\d{8}T\d{6}`)
	duration = regexp.MustCompile(`\d+(\.\d+)?(ms|s)|\(cached\)`)
	// Whether there are mount namespaces depends on the system.
	approval = regexp.MustCompile(`trust: .*?config: `)
	digits   = regexp.MustCompile(`[0-9a-f]{32}|\d+`)
)

// timeless is a text without what differs from run to run, and without line breaks.
func timeless(text string) string {
	text = strings.ReplaceAll(text, "\n", "") // a terminal breaks lines within words
	text = date.ReplaceAllString(text, "DATE")
	text = approval.ReplaceAllString(text, "")
	text = duration.ReplaceAllString(text, "TIME")
	text = digits.ReplaceAllString(text, "N")
	return strings.Join(strings.Fields(text), "")
}
