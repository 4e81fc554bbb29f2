package gauntlet

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a check starts ends with it when it has to be ended, even if it left its
// group and threw its environment away.
func TestNothingOutlivesARunThatIsEnded(t *testing.T) {
	s := newScene(t, "")
	pid := filepath.Join(s.state, "pid")
	s.write(".gauntlet/config.yml", oneCheck(
		`'(setsid env -i sh -c "echo \$\$ >`+pid+`; exec sleep 600" >/dev/null 2>&1 </dev/null &); sleep 600'`))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if text, _ := os.ReadFile(pid); strings.HasSuffix(string(text), "\n") {
				return
			}
		}
	}()
	Execute(ctx, s.options())
	<-ended
	text, err := os.ReadFile(pid)
	must(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(n), "stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(end) {
			_ = syscall.Kill(n, syscall.SIGKILL)
			t.Fatal("it still runs")
		}
	}
}
