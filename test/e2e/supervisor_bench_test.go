//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// The command lines by which these tests start a client. Each of these programs becomes what it
// starts, so that the process is the client's in the end.
var (
	plainly    = []string{"ccc", "bench"}
	supervised = []string{"env", "CCC_SUPERVISOR=1", "ccc", "bench"}
)

// Launcher has the clients of the bench started by ccc, with a supervisor. Its provider is the
// bench's API, and these are its limits.
func (b *bench) Launcher(limits map[string]any) {
	b.t.Helper()
	b.Link(filepath.Join(b.root, "bin", "ccc"))
	if limits == nil {
		limits = map[string]any{}
	}
	b.writeJSON(b.claudeFile("ccc.json"), map[string]any{
		"providers": map[string]any{"bench": map[string]any{"env": map[string]any{
			"ANTHROPIC_BASE_URL": b.API.URL, "ANTHROPIC_API_KEY": apiKey,
		}}},
		"supervisor": limits,
	})
	b.Client = supervised
}

// Link gives the program under test another name.
func (b *bench) Link(path string) {
	b.t.Helper()
	check(b.t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(b.t, os.Symlink(filepath.Join(bin, "stopgate"), path))
}

// claudeFile is a file in the directory of the person's client.
func (b *bench) claudeFile(name ...string) string {
	return filepath.Join(append([]string{b.Home, ".claude"}, name...)...)
}

// entryKinds are the two ways in which a stop comes to the supervisor: by the entry that the
// launcher writes, or by that of "stopgate hook" beside it.
var entryKinds = map[string]func(*bench){
	"supervisor-hook": func(*bench) {},
	"hook":            func(b *bench) { b.Stopgate("hooks", "install").mustPass(b.t) },
}

// eachEntry runs a test in both ways, with a client that is started supervised.
func eachEntry(t *testing.T, do func(t *testing.T, b *bench)) {
	t.Helper()
	t.Parallel()
	for name, install := range entryKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Launcher(nil)
			install(b)
			do(t, b)
		})
	}
}

// done calls the work complete.
var done = claudeapi.Structured(map[string]any{"completed": true, "feedback": "Well done."})

// undone does not.
func undone(feedback string) claudeapi.Answer {
	return claudeapi.Structured(map[string]any{"completed": false, "feedback": feedback})
}

// Reviewer puts a shell script before the clients that review; what does not exit goes on as the
// real one. Each leaves a line with who called it and who it is.
func (b *bench) Reviewer(script string) (pids string) {
	b.t.Helper()
	pids = filepath.Join(b.Tmp, "reviewers")
	client := filepath.Join(b.root, "bin", "claude")
	check(b.t, os.Remove(client))
	b.Write(client, "#!/bin/sh\nif test -n \"$STOPGATE_INSIDE\"; then\n"+
		"echo $PPID $$ >>"+pids+"\n"+script+"\nfi\nexec "+clientBinary(b.t)+" \"$@\"\n")
	check(b.t, os.Chmod(client, 0o755))
	return pids
}

// wantReviews ends the test unless there were this many reviews by real clients so
// far, each by a client of its own.
func (b *bench) wantReviews(want int) {
	b.t.Helper()
	var sessions []string
	for _, r := range b.reviews() {
		sessions = append(sessions, r.SessionID)
	}
	slices.Sort(sessions)
	if got := len(slices.Compact(sessions)); got != want {
		b.t.Fatalf("%d reviews, want %d", got, want)
	}
}

// wantSentBack wants the agent to have been sent back with exactly these texts.
func (b *bench) wantSentBack(want ...string) {
	b.t.Helper()
	if got := b.feedback(); !slices.Equal(got, want) {
		b.t.Errorf("the agent was sent back with %.200q, want %.200q", got, want)
	}
}

// waitAnswers waits for this many answers to a Stop, for a client that goes on running.
func (b *bench) waitAnswers(count int) {
	b.t.Helper()
	b.waitUntil(func(answers []string) bool { return len(answers) >= count })
}

// waitUntil waits for the answers to Stops so far to be enough. It asks for them only when there
// is something new: a reviewer needs the machine more.
func (b *bench) waitUntil(enough func(answers []string) bool) {
	b.t.Helper()
	var answers []string
	seen := int64(-1)
	ok := poll(patience, func() bool {
		size := b.journalSize()
		if size == seen {
			return false
		}
		seen, answers = size, statuses(b.Answers("Stop"))
		return enough(answers)
	})
	if !ok {
		b.t.Fatalf("Stop was answered %q, which is not enough after %v", answers, patience)
	}
}

// journalSize grows with every record.
func (b *bench) journalSize() (size int64) {
	files, _ := filepath.Glob(filepath.Join(b.Home, ".local/state/stopgate/journal/*"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	return size
}

// supervisorEntries are our entries in the person's settings file.
func (b *bench) supervisorEntries() (commands []string) {
	b.t.Helper()
	var file struct {
		Hooks struct {
			Stop []struct{ Hooks []struct{ Command string } }
		}
	}
	text, err := os.ReadFile(b.claudeFile("settings.json"))
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	check(b.t, err)
	for _, group := range file.Hooks.Stop {
		for _, h := range group.Hooks {
			if strings.HasSuffix(h.Command, " supervisor-hook") {
				commands = append(commands, h.Command)
			}
		}
	}
	return commands
}

// wantEntry wants the launcher's entry to be there once, or not at all.
func (b *bench) wantEntry(there bool) {
	b.t.Helper()
	want := []string{filepath.Join(b.root, "bin", "ccc") + " supervisor-hook"}
	if !there {
		want = nil
	}
	if got := b.supervisorEntries(); !slices.Equal(got, want) {
		b.t.Errorf("entries %q, want %q", got, want)
	}
}

// Global adds to the person's configuration of stopgate.
func (b *bench) Global(text string) {
	b.t.Helper()
	path := filepath.Join(b.Home, ".config/agent-gauntlet/config.yml")
	before, _ := os.ReadFile(path)
	b.Write(path, string(before)+text)
}
