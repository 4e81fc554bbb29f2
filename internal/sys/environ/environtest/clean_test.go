//go:build unix

package environtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// askedEnv makes the test binary a process that cleans its environment and says what is left of it.
const askedEnv = "ENVIRONTEST_ASKED"

func TestMain(m *testing.M) {
	asked := os.Getenv(askedEnv) != ""
	Clean()
	if !asked {
		m.Run()
		return
	}
	out, _ := exec.Command("sh", "-c", `umask; sh -c 'kill -HUP $$; echo HUP is ignored'; sh -c 'kill -INT $$; echo INT is ignored'`).CombinedOutput()
	fmt.Printf("%s%s\n", out, strings.Join(os.Environ(), "\n"))
}

func TestClean(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `trap '' HUP INT; umask 077; exec "$0"`, self)
	cmd.Env = append(os.Environ(), askedEnv+"=1",
		"GIT_DIR=/g", "XDG_CONFIG_HOME=/x", "CI=true", "CLAUDECODE=1", "STOPGATE_INSIDE=1", "CCC_SUPERVISOR=1", "TMUX=/t", "LC_ALL=C", "TMPDIR=/d", "STOPGATE_TMP=", "HOME=/h", "TZ=Asia/Tokyo", "STOPGATE_SEED=7")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	said := strings.Split(string(out), "\n")
	if said[0] != "0022" {
		t.Errorf("umask %s", said[0])
	}
	for _, line := range said[1:] {
		name, value, variable := strings.Cut(line, "=")
		switch {
		case strings.HasSuffix(line, "ignored"):
			t.Error(line)
		case variable && !kept(name) && fixed[name] != value:
			t.Errorf("%s reaches the tests", line)
		}
	}
	if !strings.Contains(string(out), "\nSTOPGATE_SEED=7\n") {
		t.Errorf("a switch of the tests is missing:\n%s", out)
	}

	cmd = exec.Command(self)
	cmd.Env = append(os.Environ(), askedEnv+"=1", "TMPDIR=/d", "STOPGATE_TMP=/m")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "\nTMPDIR=/m\n") {
		t.Errorf("%v; temporary files do not lie in /m:\n%s", err, out)
	}
}
