package process

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestStartField(t *testing.T) {
	line := func(name, state string) string {
		return "77 (" + name + ") " + state + strings.Repeat(" 0", 18) + " 4711 1 2"
	}
	for stat, want := range map[string]string{
		line("sh", "S"):           "4711",
		line("a) R (b c) d", "R"): "4711",
		line("new\nline", "D"):    "4711",
		line("dead", "Z"):         "",
		line("deader", "X"):       "",
		"":                        "",
		"77 (sh) S 1":             "",
	} {
		if got := startField([]byte(stat)); got != want {
			t.Errorf("%q: got %q, want %q", stat, got, want)
		}
	}
	if StartTime(os.Getpid()) == "" || BootID() == "" {
		t.Error("the system does not tell about this process")
	}
}

func TestIdentityLives(t *testing.T) {
	if !Self().Lives() {
		t.Error("this process is said to be dead")
	}
	other := exec.Command("sleep", "60")
	check(t, other.Start())
	id := Identity{other.Process.Pid, StartTime(other.Process.Pid), BootID()}
	if !id.Lives() {
		t.Errorf("%+v is said to be dead", id)
	}
	for name, stranger := range map[string]Identity{
		"started at another time": {id.PID, id.Start + "0", id.Boot},
		"before the last boot":    {id.PID, id.Start, "x"},
		"no process":              {0, "", id.Boot},
	} {
		if stranger.Lives() {
			t.Errorf("%s: is said to live", name)
		}
	}
	unknown := Identity{PID: id.PID, Boot: id.Boot} // where the system does not tell when it started
	if !unknown.Lives() {
		t.Errorf("%+v is said to be dead", unknown)
	}
	_ = other.Process.Kill()
	if other.Wait(); id.Lives() || unknown.Lives() {
		t.Error("an ended process is said to live")
	}
}
