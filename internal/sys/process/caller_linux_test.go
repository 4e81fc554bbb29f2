package process

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

func TestStartedInside(t *testing.T) {
	inside := []string{"A=1", "CLAUDECODE=1", "B=2"}
	for _, tt := range []struct {
		claude, launched int
		env              []string
		want             bool
	}{
		{10, 99, inside, true},
		{10, 10, inside, false},                 // launched by a person's script inside another client
		{10, 99, []string{"CLAUDECODE="}, true}, // hidden
		{11, 99, []string{"A=1", "B=CLAUDECODE=1"}, false},
		{12, 99, nil, false}, // gone, or without variables
		{1, 99, inside, false},
		{0, 99, inside, false},
	} {
		if got := startedInside(tt.claude, tt.launched, tt.env); got != tt.want {
			t.Errorf("startedInside(%d, %d, %q) = %t", tt.claude, tt.launched, tt.env, got)
		}
	}
}

// A client starts a hook in a session of the hook's own, by a shell or not. Whoever is deeper in a session does not know
// its client.
func TestCallerIsWhoBeganTheSession(t *testing.T) {
	self, err := os.Executable()
	check(t, err)
	for script, want := range map[string]int{
		`exec "$0"`:                       os.Getpid(),
		`"$0"; true`:                      os.Getpid(),
		`sh -c '"$0"; true' "$0"; true`:   0,
		`(sh -c '"$0"; true' "$0"); true`: 0,
	} {
		cmd := exec.Command("sh", "-c", script, self)
		cmd.Env = append(os.Environ(), callerEnv+"=1")
		Outlive(cmd)
		out, err := cmd.Output()
		if check(t, err); string(out) != strconv.Itoa(want) {
			t.Errorf("%s: %s, want %d", script, out, want)
		}
	}
}

func TestParentOf(t *testing.T) {
	for stat, want := range map[string]int{"10 (a) b) S 7 10 10 0": 7, "nonsense": 0, "": 0} {
		if got := parentIn([]byte(stat)); got != want {
			t.Errorf("parentIn(%q) = %d", stat, got)
		}
	}
	if got := parentIn(readStat(os.Getpid())); got != os.Getppid() {
		t.Errorf("our own parent is %d", got)
	}
	if got := parentOf(os.Getpid()); got != os.Getppid() {
		t.Errorf("our own parent is %d, without a look", got)
	}
}

func TestEnvironOf(t *testing.T) {
	child := exec.Command("sleep", "60")
	child.Env = []string{"A=1", "CLAUDECODE=1", "EMPTY="}
	checktest.OK(t, child.Start())
	var got []string
	checktest.Eventually(t, "the child has its environment", func() bool { // a moment after it began
		got = environOf(child.Process.Pid)
		return len(got) > 0
	})
	checktest.OK(t, child.Process.Kill())
	_ = child.Wait()
	if !slices.Equal(got, child.Env) {
		t.Errorf("the environment of a child is %q", got)
	}
	if gone := environOf(child.Process.Pid); gone != nil {
		t.Errorf("that of one that has ended is %q", gone)
	}
}
