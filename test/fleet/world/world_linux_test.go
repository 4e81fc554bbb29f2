package world

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func([]string) error{"echo": echo, "call": call, "world": playWorld})
}

// echo answers each line with itself.
func echo(args []string) error {
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(c, c) }()
	}
}

// call sends what it reads, and prints what it is answered.
func call(args []string) error {
	c, err := net.Dial("tcp", args[0])
	if err != nil {
		return err
	}
	go func() { _, _ = io.Copy(c, os.Stdin) }()
	_, err = io.Copy(os.Stdout, c)
	return err
}

// child is this program as one of the children, on a machine.
func (m *Machine) child(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	plain := processtest.Child(t, name, args...)
	cmd := m.Command(t.Context(), plain.Path, args...)
	cmd.Env, cmd.Stderr = append(plain.Env, m.Env...), os.Stderr
	return cmd
}

// listen starts an echo on a machine.
func (m *Machine) listen(t *testing.T) (reached string) {
	t.Helper()
	port, err := m.world.Network.Open(m.Number, 0)
	check(t, err)
	cmd := m.child(t, "echo", fmt.Sprintf("%s:%d", m.world.Network.Behind(m.Number), port))
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the echo said %q: %v", line, err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return fmt.Sprintf("%s:%d", m.Address(), port)
}

// line is a connection from a machine.
type line struct {
	say   io.Writer
	heard chan string
}

func (m *Machine) call(t *testing.T, to string) line {
	t.Helper()
	cmd := m.child(t, "call", to)
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	l := line{in, make(chan string, 100)}
	go func() {
		defer close(l.heard)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			l.heard <- lines.Text()
		}
	}()
	return l
}

// echoes sees that a word comes back.
func (l line) echoes(t *testing.T, word string) {
	t.Helper()
	fmt.Fprintln(l.say, word)
	l.hears(t, word)
}

func (l line) hears(t *testing.T, word string) {
	t.Helper()
	select {
	case got, open := <-l.heard:
		if !open {
			t.Fatalf("the connection has ended before %q came back", word)
		}
		if got != word {
			t.Fatalf("%q came back, not %q", got, word)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%q does not come back", word)
	}
}

// silent sees that a word does not come back for a while: it could only pass by mistake.
func (l line) silent(t *testing.T, word string) {
	t.Helper()
	fmt.Fprintln(l.say, word)
	select {
	case got, open := <-l.heard:
		t.Fatalf("%q came back, the connection is open: %t", got, open)
	case <-time.After(300 * time.Millisecond):
	}
}

// eachNetwork runs a test on every network that this system has.
func eachNetwork(t *testing.T, test func(t *testing.T, w *World)) {
	networks := map[string]Connect{"loopback": Loopback}
	if CanHaveNamespaces() {
		networks["namespaces"] = Namespaces
	}
	for name, network := range networks {
		t.Run(name, func(t *testing.T) {
			w, err := New(Options{Machines: 3, Network: network, Bin: t.TempDir()})
			check(t, err)
			if w.Network.Name() != name {
				t.Errorf("it is made of %s", w.Network.Name())
			}
			t.Cleanup(func() {
				check(t, w.Close())
				if _, err := os.Stat(w.Dir); !os.IsNotExist(err) {
					t.Errorf("the directory is left: %v", err)
				}
			})
			test(t, w)
		})
	}
}

// A cut holds on one way between two machines, for connections that are there, too; what was sent meanwhile
// comes when it is healed.
func TestAWayIsCutAndHealed(t *testing.T) {
	eachNetwork(t, func(t *testing.T, w *World) {
		at := w.Machines[1].listen(t)
		a, c := w.Machines[0].call(t, at), w.Machines[2].call(t, at)
		a.echoes(t, "one")
		c.echoes(t, "one")

		check(t, w.Network.Cut(0, 1))
		a.silent(t, "two")
		c.echoes(t, "two")
		check(t, w.Network.Heal(0, 1))
		a.hears(t, "two")

		check(t, w.Network.Cut(1, 2)) // the answers alone
		c.silent(t, "three")
		a.echoes(t, "three")
		check(t, w.Network.Heal(1, 2))
		check(t, w.Network.Heal(1, 2)) // again, which changes nothing
		c.hears(t, "three")
	})
}

// A machine reaches itself, and others find it cut off.
func TestAMachineThatIsCutOffReachesItself(t *testing.T) {
	eachNetwork(t, func(t *testing.T, w *World) {
		at := w.Machines[0].listen(t)
		for _, other := range []int{1, 2} {
			check(t, w.Network.Cut(0, other))
			check(t, w.Network.Cut(other, 0))
		}
		w.Machines[0].call(t, at).echoes(t, "self")
		away := w.Machines[1].call(t, at)
		away.silent(t, "away")
		check(t, w.Network.Heal(1, 0))
		away.silent(t, "half")
		check(t, w.Network.Heal(0, 1))
		away.hears(t, "away")
		away.hears(t, "half")
	})
}

// What a machine has crashed with is gone, and others' processes are not.
func TestACrashEndsOneMachine(t *testing.T) {
	eachNetwork(t, func(t *testing.T, w *World) {
		one, two := w.Machines[0].child(t, "echo", "127.0.0.1:0"), w.Machines[1].child(t, "echo", "127.0.0.1:0")
		check(t, one.Start())
		check(t, two.Start())
		ended := make(chan error, 1)
		go func() { ended <- one.Wait() }()
		for range pause.Doubling(t.Context(), time.Millisecond, time.Second) {
			if len(w.Machines[0].Processes()) > 0 && len(w.Machines[1].Processes()) > 0 {
				break
			}
		}
		check(t, w.Machines[0].Crash())
		<-ended
		if left := w.Machines[1].Processes(); !slices.Contains(left, two.Process.Pid) {
			t.Errorf("on the other machine there run %v", left)
		}
		check(t, two.Process.Kill())
		_ = two.Wait()
		if left := w.Left(t.Context()); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}

// playWorld makes a world with a process in it, says where, and waits.
func playWorld([]string) error {
	w, err := New(Options{Machines: 2, Bin: os.TempDir()})
	if err != nil {
		return err
	}
	cmd := w.Machines[0].Command(context.Background(), "sleep", "3600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println(w.Dir)
	time.Sleep(time.Hour)
	return nil
}

// Nothing is left of a world whose maker was killed.
func TestNothingIsLeftOfAWorldWhoseMakerIsKilled(t *testing.T) {
	cmd := processtest.Child(t, "world")
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	dir, err := bufio.NewReader(out).ReadString('\n')
	check(t, err)
	dir = strings.TrimSpace(dir)
	mark := "\x00" + worldVariable + "=" + dir + "\x00"
	if len(processtest.Having(mark)) == 0 {
		t.Error("there was nothing")
	}
	check(t, cmd.Process.Kill())
	_ = cmd.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for range pause.Doubling(ctx, 10*time.Millisecond, time.Second) {
		if _, err := os.Stat(dir); os.IsNotExist(err) && len(processtest.Having(mark)) == 0 {
			return
		}
	}
	t.Errorf("%v are left, in %s", processtest.Having(mark), dir)
}
