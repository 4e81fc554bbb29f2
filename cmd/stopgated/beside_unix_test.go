//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/programs"
)

// TestBesideStopgate has stopgate, called by a link, find the stopgated that was
// built with it, and that one ask an endpoint.
func TestBesideStopgate(t *testing.T) {
	bin, links, home := t.TempDir(), t.TempDir(), t.TempDir()
	check(t, programs.Build(bin))
	stopgate := filepath.Join(links, "stopgate")
	check(t, os.Symlink(filepath.Join(bin, "stopgate"), stopgate))
	var agent string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent = r.Header.Get("User-Agent")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"no such key: %s"}}`, r.Header.Get("X-Api-Key"))
	}))
	defer server.Close()
	config := fmt.Sprintf(`{"providers":{"p":{"env":{"ANTHROPIC_BASE_URL":%q,"ANTHROPIC_API_KEY":"hush-3f9a"}}}}`, server.URL)
	check(t, os.WriteFile(filepath.Join(home, "ccc.json"), []byte(config), 0o600))
	cmd := exec.Command(stopgate, "provider", "check")
	cmd.Env = []string{"HOME=" + home, "CCC_CONFIG_DIR=" + home}
	out, err := cmd.CombinedOutput()
	want := "✗ p  rejected     " + server.URL + "  HTTP 401: no such key: […]\n"
	if cmd.ProcessState.ExitCode() != 1 || string(out) != want {
		t.Errorf("%v\n%s\nnot:\n%s", err, out, want)
	}
	if !strings.HasPrefix(agent, "stopgate/") {
		t.Errorf("stopgated calls itself %q", agent)
	}
}
