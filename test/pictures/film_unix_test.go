//go:build unix

package pictures

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/claudeapi"
)

const (
	filmColumns, filmLines = 100, 28

	task = "Carts of 100 and more get 10% off. The test is in cart_test.go."
)

// record films a real Claude Code in the shop. Only its model is scripted.
func record(t *testing.T) []Frame {
	s := newStage(t)
	api := claudeapi.New(t)
	s.installClient(api.URL)
	s.run("stopgate", "init", "--yes", "--check", "go test ./...")
	cart := filepath.Join(s.project, "cart.go")
	edit := func(from, to string) claudeapi.Answer {
		return claudeapi.Tool("Edit", map[string]any{"file_path": cart, "old_string": from, "new_string": to})
	}
	last := "Fixed: the discount now begins at 100."
	api.Script(
		claudeapi.Slow(time.Second, claudeapi.Tool("Read", map[string]any{"file_path": cart})),
		claudeapi.Slow(time.Second, edit(before, wrong)),
		claudeapi.Slow(time.Second, claudeapi.Text("Done. Carts of 100 and more get 10% off.")),
		claudeapi.Slow(time.Second, edit("sum > 100", "sum >= 100")),
		claudeapi.Slow(time.Second, claudeapi.Text(last)),
	)

	w := s.open(filmColumns, filmLines, "claude")
	w.wait("the prompt", func(text string) bool { return strings.Contains(text, "❯") })
	camera := w.film()
	for _, key := range task {
		w.tmux("send-keys", "-l", string(key))
		time.Sleep(20 * time.Millisecond)
	}
	w.tmux("send-keys", "Enter")
	w.wait("the end", func(text string) bool { return strings.Contains(text, last) && strings.Contains(text, "✓") })
	time.Sleep(2 * time.Second)
	return camera()
}

// installClient puts the pinned Claude Code there, as a person who has answered its first questions has it.
func (s *stage) installClient(url string) {
	s.t.Helper()
	arch := strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	client, err := filepath.Abs(filepath.Join("..", "client", "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude"))
	check(s.t, err)
	if _, err := os.Stat(client); err != nil {
		environtest.Missing(s.t, "Claude Code client", err)
	}
	check(s.t, os.Symlink(client, filepath.Join(s.home, ".local", "bin", "claude")))
	s.env = append(s.env,
		"ANTHROPIC_API_KEY=fake", "ANTHROPIC_BASE_URL="+url,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
	)
	s.writeJSON(".claude.json", map[string]any{
		"hasCompletedOnboarding": true,
		"customApiKeyResponses":  map[string]any{"approved": []string{"fake"}, "rejected": []string{}},
		"projects":               map[string]any{s.project: map[string]any{"hasTrustDialogAccepted": true}},
	})
	s.writeJSON(".claude/settings.json", map[string]any{"permissions": map[string]any{"allow": []string{"Edit", "Read"}}})
}

func (s *stage) writeJSON(name string, value any) {
	s.t.Helper()
	text, err := json.Marshal(value)
	check(s.t, err)
	s.write(filepath.Join(s.home, name), string(text))
}

// film takes a frame whenever the screen changes, until it is asked for them.
func (w *window) film() func() []Frame {
	stop, stopped := make(chan struct{}), make(chan []Frame)
	go func() {
		var frames []Frame
		last, shown := "", time.Now()
		for {
			captured, err := w.try("capture-pane", "-e", "-p")
			if now := time.Now(); err == nil && captured != last {
				if len(frames) > 0 {
					frames[len(frames)-1].For = now.Sub(shown)
				}
				frames = append(frames, Frame{Screen: w.develop(captured)})
				last, shown = captured, now
			}
			select {
			case <-stop:
				frames[len(frames)-1].For = time.Second
				stopped <- frames
				return
			case <-time.After(60 * time.Millisecond):
			}
		}
	}()
	return func() []Frame {
		close(stop)
		return <-stopped
	}
}
