//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/test/programs"
)

// TestWakeSend has the program send the letters of a state directory to the gateway
// that the registry in a home directory names. One that is told to end does so at once,
// and the next one sends the rest.
func TestWakeSend(t *testing.T) {
	bin := t.TempDir()
	check(t, programs.Build(bin))
	program := filepath.Join(bin, "stopgated")
	arrived := make(chan string)
	gateway := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else nobody sees that the sender is gone
		select {
		case arrived <- r.Header.Get("Idempotency-Key"):
		case <-r.Context().Done():
		}
		if r.Header.Get("Idempotency-Key") == "stuck" {
			<-r.Context().Done()
		}
	}))
	defer gateway.Close()
	home, state := t.TempDir(), t.TempDir()
	registry := filepath.Join(home, ".config", "agent-gauntlet", "agent-registry.json")
	check(t, os.MkdirAll(filepath.Dir(registry), 0o700))
	entry := fmt.Sprintf(`{"agents":[{"agent_id":"warden","session_name":"s","gateway":{"transport":"webhook","url":%q}}]}`, gateway.URL)
	check(t, os.WriteFile(registry, []byte(entry), 0o600))
	for _, key := range []string{"first", "stuck"} {
		check(t, wake.NewOutbox(state).Put(wake.Letter{Key: key, Kind: wake.Stop, AgentID: "warden", Session: "s", Time: time.Now(), Body: "hello"}))
	}
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		cmd := exec.Command(program, "wake-send")
		cmd.Env = []string{"HOME=" + home, "STOPGATE_STATE_DIR=" + state}
		cmd.Stderr = os.Stderr
		check(t, cmd.Start())
		key := <-arrived
		if signal == syscall.SIGTERM && key == "first" {
			key = <-arrived
		}
		if key != "stuck" {
			t.Errorf("%q arrived", key)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", signal, err)
		}
		if !wake.NewOutbox(state).Waiting() {
			t.Error("the letter that did not arrive is gone")
		}
	}
}
