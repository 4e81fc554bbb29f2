package launch

import (
	"os"
	"testing"
)

func TestStartedInside(t *testing.T) {
	proc := t.TempDir()
	write(t, "A=1\x00CLAUDECODE=1\x00B=2\x00", proc, "10", "environ")
	write(t, "A=1\x00B=CLAUDECODE=1\x00", proc, "11", "environ")
	write(t, "", proc, "12", "environ")
	for _, tt := range []struct {
		client, launched int
		want             bool
	}{
		{10, 99, true},
		{10, 10, false}, // launched by a person's script inside another client
		{11, 99, false},
		{12, 99, false},
		{13, 99, false}, // gone
		{1, 99, false},
		{0, 99, false},
	} {
		if got := startedInside(proc, tt.client, tt.launched); got != tt.want {
			t.Errorf("startedInside(%d, %d) = %t", tt.client, tt.launched, got)
		}
	}
}

func TestParentOf(t *testing.T) {
	proc := t.TempDir()
	write(t, "10 (a) b) S 7 10 10 0", proc, "10", "stat")
	write(t, "nonsense", proc, "11", "stat")
	for pid, want := range map[int]int{10: 7, 11: 0, 12: 0} {
		if got := parentOf(proc, pid); got != want {
			t.Errorf("parentOf(%d) = %d", pid, got)
		}
	}
	if got := parentOf("/proc", os.Getpid()); got != os.Getppid() {
		t.Errorf("our own parent is %d", got)
	}
}
